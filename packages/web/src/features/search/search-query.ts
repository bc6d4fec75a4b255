import { infiniteQueryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { queryKeys } from '../../api/query-client.ts';
import { searchProgress } from '../../api/request-queries.ts';

/** Number of results in a page. */
export const SEARCH_PAGE = 50;

/** Number of stored requests that the first call looks at, so that the first results appear at once. */
const FIRST_SCAN = 2000;

/** The user's requests that match `q`, of one endpoint or of all, page by page. */
export const searchQuery = (q: string, endpoint: string | undefined) =>
  infiniteQueryOptions({
    queryKey: queryKeys.search(q, endpoint),
    queryFn: async ({ pageParam, signal }) => {
      const scan = pageParam === undefined ? FIRST_SCAN : undefined;
      const query = { q, endpoint, limit: SEARCH_PAGE, scan, before: pageParam };
      const answer = await client.callWithHeaders('search', { query }, signal);
      const { searched, before } = searchProgress(answer);
      return { found: answer.data, searched, before };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.before,
    staleTime: 0,
  });
