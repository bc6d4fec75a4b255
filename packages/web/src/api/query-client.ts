import { defaultScheduler, MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import type { RequestFilter } from './request-filter.ts';
import { noteOutage } from './server-state.ts';

const mutationCache = new MutationCache();

/** Notifications of the screens that wait for a timer. */
const waiting: (() => void)[] = [];
const notify = (): void => waiting.splice(0).forEach((run) => run());

notifyManager.setScheduler((run) => {
  waiting.push(run);
  defaultScheduler(notify);
});
// The second press of a double click comes before the timer, and would find a button that is not busy.
// Other notifications wait, because a screen that ends with its call would miss the call's own callbacks.
mutationCache.subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'pending') queueMicrotask(notify);
});

/** Queries never go stale and are not retried unless they set it themselves. */
export const queryClient = new QueryClient({
  mutationCache,
  queryCache: new QueryCache({
    // After the last retry.
    onError: noteOutage,
  }),
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
      refetchOnWindowFocus: false,
      // A local server can be reached without a network. A failed call reports itself.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/** Loads all visible queries again that have failed. */
export function refetchFailedQueries(): void {
  void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
}

/**
 * Every key of the query cache. Longer keys start with shorter ones, so that all entries of a noun can be removed at
 * once.
 */
export const queryKeys = {
  user: ['user'],
  serviceInfo: ['service-info'],
  probe: ['probe'],
  settings: ['settings'],
  sessions: ['sessions'],
  planChange: (tier: string, interval: string) => ['plan-change', tier, interval] as const,
  /** The built-in test gateway. */
  testCheckout: (id: string) => ['test-gateway', 'checkout', id] as const,
  testSubscription: ['test-gateway', 'subscription'],
  endpoints: ['endpoints'],
  endpoint: (uid: string) => ['endpoint', uid] as const,
  /**
   * All requests of an endpoint. Single requests are identified by their index, which does not change when they are
   * saved.
   */
  requests: (uid: string) => ['requests', uid] as const,
  requestLists: (uid: string) => ['requests', uid, 'list'] as const,
  requestList: (uid: string, { method, query }: RequestFilter) =>
    ['requests', uid, 'list', method ?? 'all', query ?? ''] as const,
  requestPage: (uid: string, { method, query }: RequestFilter, before: number, after: number) =>
    ['requests', uid, 'page', method ?? 'all', query ?? '', before, after] as const,
  requestAround: (uid: string, { method, query }: RequestFilter, index: number) =>
    ['requests', uid, 'around', method ?? 'all', query ?? '', index] as const,
  /** What arrives while the live connection is lost. */
  requestsMissed: (uid: string) => ['requests', uid, 'missed'] as const,
  requestsOne: (uid: string) => ['requests', uid, 'one'] as const,
  request: (uid: string, index: number) => ['requests', uid, 'one', index] as const,
  body: (uid: string, index: number, extent: 'beginning' | 'whole') =>
    ['requests', uid, 'body', index, extent] as const,
  bodyView: (uid: string, index: number, extent: 'beginning' | 'whole') =>
    ['requests', uid, 'view', index, extent] as const,
  /** The attempts to send a request, of all requests or of one, and a parsed response of one of them. */
  histories: (uid: string) => ['requests', uid, 'deliveries'] as const,
  deliveries: (uid: string, index: number) => ['requests', uid, 'deliveries', index] as const,
  responseView: (uid: string, index: number, attempt: number) =>
    ['requests', uid, 'response-view', index, attempt] as const,
  /** The comparison of two requests, and the requests to choose from. */
  comparison: (uid: string, left: number, right: number, sortsKeys: boolean) =>
    ['requests', uid, 'comparison', left, right, sortsKeys] as const,
  picker: (uid: string, query: string) => ['requests', uid, 'picker', query] as const,
  signatures: (uid: string) => ['requests', uid, 'signature'] as const,
  signature: (uid: string, index: number) => ['requests', uid, 'signature', index] as const,
  destinations: (uid: string) => ['destinations', uid] as const,
  /** The last replay of a request, and its parsed response. */
  replay: (uid: string, index: number) => ['requests', uid, 'replay', index] as const,
  replayView: (uid: string, index: number, at: number) => ['requests', uid, 'replay-view', index, at] as const,
  search: (q: string, endpoint: string | undefined) => ['search', q, endpoint ?? 'all'] as const,
} as const satisfies Record<string, readonly unknown[] | ((...parts: never[]) => readonly unknown[])>;
