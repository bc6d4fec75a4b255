import type { CapturedRequest } from '@creel/contract';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { slimRows } from './limit-requests.ts';
import { mergeRange, joinPages, pageRange } from './merge-requests.ts';
import type { MethodFilter, IndexRange } from './merge-requests.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { Gap, RequestList } from './request-list.ts';
import { readList } from './request-lists.ts';

/** Number of requests in the first page and in further pages. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 200;

const MINUTE_MS = 60_000;

/** Loads saved and unsaved requests below an index as one range. */
async function readPage(
  uid: string,
  method: MethodFilter,
  limit: number,
  before?: number,
  signal?: AbortSignal,
): Promise<IndexRange> {
  const input = { params: { uid }, query: { limit, before, method } };
  const [unsaved, saved] = await Promise.all([
    client.callWithHeaders('listUnsaved', input, signal),
    client.callWithHeaders('listSaved', input, signal),
  ]);
  return joinPages(
    pageRange(unsaved.data, unsaved.next !== undefined, before),
    pageRange(saved.data, saved.next !== undefined, before),
  );
}

function withPage(list: RequestList, page: IndexRange, method: MethodFilter): RequestList {
  return slimRows(mergeRange(list, page, method));
}

/** The requests of an endpoint, of one method or of all. Live messages update the list after it is loaded. */
export const requestListQuery = (uid: string, method: MethodFilter) =>
  queryOptions({
    queryKey: queryKeys.requestList(uid, method),
    queryFn: async ({ signal }): Promise<RequestList> => {
      const page = await readPage(uid, method, FIRST_PAGE, undefined, signal);
      // Live messages that arrived during the call are already in the cache.
      return withPage(readList(uid, method), page, method);
    },
  });

/** Loads the newest part of a gap. Returns the number of loaded requests. */
export const gapQuery = (uid: string, method: MethodFilter, gap: Gap) =>
  queryOptions({
    queryKey: queryKeys.requestPage(uid, method, gap.before),
    queryFn: async ({ signal }): Promise<number> => {
      const page = await readPage(uid, method, NEXT_PAGE, gap.before, signal);
      queryClient.setQueryData<RequestList>(queryKeys.requestList(uid, method), (list) =>
        withPage(list ?? EMPTY_LIST, page, method),
      );
      return page.rows.length;
    },
    staleTime: 0,
    gcTime: 0,
  });

/** One request by its index, with the first part of its body. `null` if it is no longer stored. */
export const requestQuery = (uid: string, index: number) =>
  queryOptions({
    queryKey: queryKeys.request(uid, index),
    queryFn: ({ signal }) => findByIndex(uid, index, signal),
    gcTime: MINUTE_MS,
  });

/**
 * Loads the first request of a page that starts right after it. That works for saved and unsaved requests, and does
 * not load the whole body.
 */
async function findByIndex(uid: string, index: number, signal?: AbortSignal): Promise<CapturedRequest | null> {
  const input = { params: { uid }, query: { limit: 1, before: index + 1 } };
  const [unsaved, saved] = await Promise.all([
    client.call('listUnsaved', input, signal),
    client.call('listSaved', input, signal),
  ]);
  return [...saved, ...unsaved].find((request) => request.index === index) ?? null;
}
