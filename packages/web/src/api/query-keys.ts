/** Every key of the query cache, in one place. Longer keys begin with shorter ones, so that a noun can be dropped as a whole. */
export const queryKeys = {
  user: ['user'],
  serviceInfo: ['service-info'],
  settings: ['settings'],
  sessions: ['sessions'],
  endpoints: ['endpoints'],
  endpoint: (uid: string) => ['endpoint', uid] as const,
  /** What the live view holds of an endpoint. */
  live: (uid: string) => ['live', uid] as const,
  /** Pages of stored requests, read back from the live view's end. */
  requests: (uid: string) => ['requests', uid] as const,
  request: (uid: string, id: number) => ['requests', uid, 'one', id] as const,
  body: (uid: string, id: number) => ['requests', uid, 'body', id] as const,
  search: (q: string) => ['search', q] as const,
} as const satisfies Record<string, readonly unknown[] | ((...parts: never[]) => readonly unknown[])>;
