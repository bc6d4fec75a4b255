import { QueryClient } from '@tanstack/react-query';

/** Queries never go stale and are not retried unless they set it themselves. */
export const queryClient = new QueryClient({
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
