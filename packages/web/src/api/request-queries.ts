import { positionBefore, parseSearchPosition, SEARCHED_HEADER } from '@creel/contract';
import type { CapturedRequest, Answer } from '@creel/contract';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { slimRows } from './limit-requests.ts';
import { mergeRange, joinPages, pageRange, startSearch } from './merge-requests.ts';
import type { IndexRange } from './merge-requests.ts';
import { endpointQuery } from './queries.ts';
import { queryClient, queryKeys } from './query-client.ts';
import { acceptsOf, ALL_REQUESTS, searchText } from './request-filter.ts';
import type { RequestFilter } from './request-filter.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { Gap, RequestList } from './request-list.ts';
import { changeLists, holdLists, readList } from './list-cache.ts';

/** Number of requests in the first page and in further pages. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 200;
/** The first page of all requests fills a screen. The `init` of the live connection has the newest 100. */
const SCREEN_PAGE = 30;

/** Number of stored requests that the first call of a search examines. */
const FIRST_SEARCH_STEP = 1000;

const MINUTE_MS = 60_000;

/** Milliseconds that the list of a query stays in memory after it was last shown. Live messages update it meanwhile. */
const UNUSED_SEARCH_MS = 10_000;

/** Loads saved and unsaved requests below an index as one range. */
async function readPage(
  uid: string,
  method: string | undefined,
  limit: number,
  before: number | undefined,
  signal: AbortSignal | undefined,
): Promise<IndexRange> {
  const input = { params: { uid }, query: { limit, before, method } };
  const [unsaved, saved] = await Promise.all([
    client.callWithHeaders('listUnsaved', input, signal),
    client.callWithHeaders('listSaved', input, signal),
  ]);
  return joinPages(
    pageRange(unsaved.data, unsaved.nextBefore !== undefined, before),
    pageRange(saved.data, saved.nextBefore !== undefined, before),
  );
}

/** The requests of an endpoint that a filter accepts. Live messages update the list after it is loaded. */
export const requestListQuery = (uid: string, filter: RequestFilter) =>
  queryOptions({
    queryKey: queryKeys.requestList(uid, filter),
    queryFn: async ({ signal }): Promise<RequestList> => {
      if (filter.query !== undefined) {
        await queryClient.ensureQueryData(requestListQuery(uid, ALL_REQUESTS));
        return startSearch(readList(uid), acceptsOf(filter));
      }
      const limit = filter.method === undefined ? SCREEN_PAGE : FIRST_PAGE;
      const page = await readPage(uid, filter.method, limit, undefined, signal);
      // Live messages that arrived during the call are already in the cache.
      return slimRows(mergeRange(readList(uid, filter), page, acceptsOf(filter)));
    },
    ...(filter.query === undefined ? {} : { gcTime: UNUSED_SEARCH_MS, staleTime: 0 }),
  });

/** Milliseconds between two calls. Longer than most connections take to be open again. */
const MISSED_INTERVAL_MS = 5000;

/** Follows the figures of an endpoint and its new requests by calls. For a browser whose proxy blocks web sockets. */
export const missedQuery = (uid: string) =>
  queryOptions({
    queryKey: queryKeys.requestsMissed(uid),
    queryFn: async ({ signal }): Promise<null> => {
      const { retention } = await queryClient.fetchQuery({ ...endpointQuery(uid), retry: false });
      if (retention.newestIndex <= readList(uid).newest) return null;
      const page = await readPage(uid, undefined, FIRST_PAGE, undefined, signal);
      changeLists(uid, (list, accepts) => slimRows(mergeRange(list, page, accepts)));
      return null;
    },
    initialData: null,
    gcTime: 0,
    refetchInterval: MISSED_INTERVAL_MS,
  });

/** The end of a gap at which its requests are loaded first. */
export type GapEnd = 'newest' | 'oldest';

/** Loads a part of a gap, or searches it if the list has a query. */
export const gapQuery = (uid: string, filter: RequestFilter, gap: Gap, end: GapEnd = 'newest') =>
  queryOptions({
    queryKey: queryKeys.requestPage(uid, filter, gap.before, gap.after),
    queryFn: async ({ signal }): Promise<null> => {
      if (filter.query !== undefined) await searchGap(uid, filter, gap, signal);
      else if (end === 'oldest') await loadGapUpward(uid, filter, gap, signal);
      else merge(uid, filter, await readPage(uid, filter.method, NEXT_PAGE, gap.before, signal));
      return null;
    },
    staleTime: 0,
    gcTime: 0,
  });

function merge(uid: string, filter: RequestFilter, page: IndexRange, searched = 0): void {
  const key = queryKeys.requestList(uid, filter);
  queryClient.setQueryData<RequestList>(key, (list = EMPTY_LIST) =>
    slimRows(mergeRange({ ...list, searched: list.searched + searched }, page)),
  );
}

/** Indexes can be sparse, so the page grows until it contains a request of the gap. */
async function loadGapUpward(uid: string, filter: RequestFilter, gap: Gap, signal: AbortSignal): Promise<void> {
  for (let length = NEXT_PAGE; ; length *= 4) {
    const before = Math.min(gap.before, gap.after + 1 + length);
    const page = await readPage(uid, filter.method, NEXT_PAGE, before, signal);
    merge(uid, filter, page);
    if (before === gap.before || page.rows.some(({ index }) => index > gap.after)) return;
  }
}

/** Searches the newest part of a gap. The first steps are small, so that the first matches appear at once. */
async function searchGap(uid: string, filter: RequestFilter, gap: Gap, signal: AbortSignal): Promise<void> {
  const { id } = await queryClient.ensureQueryData(endpointQuery(uid));
  const step = Math.max(FIRST_SEARCH_STEP, readList(uid, filter).searched * 4);
  const answer = await client.callWithHeaders(
    'search',
    {
      query: {
        q: searchText(filter),
        endpoint: uid,
        limit: NEXT_PAGE,
        scan: Math.min(gap.before - gap.after - 1, step),
        before: positionBefore(id, gap.before),
      },
    },
    signal,
  );
  const { searched, next } = searchProgress(answer);
  const page = { from: Math.max(next?.index ?? 0, 0), to: gap.before - 1, rows: answer.data };
  merge(uid, filter, page, searched);
}

/**
 * Loads the page around a request that the list has in a gap. Holds the list, which scrolls there, because an `init` that
 * arrives before it has scrolled would drop the page.
 */
export const aroundQuery = (uid: string, filter: RequestFilter, index: number) =>
  queryOptions({
    queryKey: queryKeys.requestAround(uid, filter, index),
    queryFn: async ({ signal }): Promise<null> => {
      const before = Math.min(index + NEXT_PAGE / 2, readList(uid, filter).newest + 1);
      merge(uid, filter, await readPage(uid, filter.method, NEXT_PAGE, before, signal));
      holdLists(uid, true);
      return null;
    },
    // On a later visit, the list may have dropped them.
    gcTime: 0,
  });

/**
 * The newest stored request below an index, with the first part of its body. A page of one finds saved and unsaved
 * requests, and does not load the whole body.
 */
export async function newestBelow(
  uid: string,
  before: number,
  signal?: AbortSignal,
): Promise<CapturedRequest | undefined> {
  const { rows } = await readPage(uid, undefined, 1, before, signal);
  return rows.toSorted((one, other) => other.index - one.index)[0];
}

/**
 * One request by its index, with the first part of its body. `null` if it is not stored. If `saved` is still right, one
 * list is read instead of both.
 */
export const requestQuery = (uid: string, index: number, saved?: boolean) =>
  queryOptions({
    queryKey: queryKeys.request(uid, index),
    queryFn: async ({ signal }): Promise<CapturedRequest | null> => {
      if (saved !== undefined) {
        const input = { params: { uid }, query: { limit: 1, before: index + 1 } };
        const [found] = await client.call(saved ? 'listSaved' : 'listUnsaved', input, signal);
        if (found?.index === index) return found;
      }
      const newest = await newestBelow(uid, index + 1, signal);
      return newest?.index === index ? newest : null;
    },
    gcTime: MINUTE_MS,
  });

/** Reads the progress of a search from the headers of its answer. */
export function searchProgress({ nextBefore, headers }: Answer<'search'>) {
  return {
    /** Number of stored requests that the call searched. */
    searched: Number(headers.get(SEARCHED_HEADER) ?? 0),
    /** Where the next page starts; `undefined` when everything was searched. */
    next: nextBefore === undefined ? undefined : parseSearchPosition(nextBefore),
  };
}
