/** Every key of the query cache, in one place. Longer keys begin with shorter ones, so that a noun can be dropped as a whole. */
export const queryKeys = {
  user: ['user'],
  serviceInfo: ['service-info'],
  settings: ['settings'],
  sessions: ['sessions'],
  /** What a change of plan would do. */
  planChange: (tier: string, interval: string) => ['plan-change', tier, interval] as const,
  /** The built-in test gateway. */
  testCheckout: (id: string) => ['test-gateway', 'checkout', id] as const,
  testSubscription: ['test-gateway', 'subscription'],
  endpoints: ['endpoints'],
  endpoint: (uid: string) => ['endpoint', uid] as const,
  /** What the live view holds of an endpoint. */
  live: (uid: string) => ['live', uid] as const,
  /** Everything about an endpoint's requests. Single ones go by their index, which saving does not change. */
  requests: (uid: string) => ['requests', uid] as const,
  requestLists: (uid: string) => ['requests', uid, 'list'] as const,
  requestList: (uid: string, method: string | undefined) => ['requests', uid, 'list', method ?? 'all'] as const,
  requestPage: (uid: string, method: string | undefined, before: number) =>
    ['requests', uid, 'page', method ?? 'all', before] as const,
  requestsOne: (uid: string) => ['requests', uid, 'one'] as const,
  request: (uid: string, index: number) => ['requests', uid, 'one', index] as const,
  body: (uid: string, index: number, extent: 'beginning' | 'whole') =>
    ['requests', uid, 'body', index, extent] as const,
  bodyView: (uid: string, index: number, extent: 'beginning' | 'whole') =>
    ['requests', uid, 'view', index, extent] as const,
  /** What became of the last replay of a request, and its answer laid out. */
  replay: (uid: string, index: number) => ['requests', uid, 'replay', index] as const,
  replayView: (uid: string, index: number, at: number) => ['requests', uid, 'replay-view', index, at] as const,
  search: (q: string) => ['search', q] as const,
} as const satisfies Record<string, readonly unknown[] | ((...parts: never[]) => readonly unknown[])>;
