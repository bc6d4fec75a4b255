import { QueryClient } from '@tanstack/react-query';

/** Queries never go stale and are not retried unless they say so themselves (spec 9). */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
      refetchOnWindowFocus: false,
      // A server on this machine answers without a network; a call that can't be made says so itself.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/** Asks once more for everything on the screen whose last answer was a failure. */
export function askAgainForFailed(): void {
  void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
}
