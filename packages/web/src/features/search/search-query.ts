import { infiniteQueryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { queryKeys } from '../../api/query-keys.ts';

/** The user's requests that match `q`, page by page. */
export const searchQuery = (q: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.search(q),
    queryFn: async ({ pageParam, signal }) => {
      const { data, next } = await client.callWithHeaders(
        'search',
        { query: { q, limit: 50, before: pageParam } },
        signal,
      );
      return { found: data, before: beforeOf(next) };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.before,
    staleTime: 0,
  });

/** The `before` parameter of a `Link: rel="next"` URL. */
export function beforeOf(next: string | undefined): string | undefined {
  return next === undefined ? undefined : (new URL(next, location.origin).searchParams.get('before') ?? undefined);
}
