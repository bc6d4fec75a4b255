import type { CapturedRequest } from '@creel/contract';
import { queryOptions } from '@tanstack/react-query';
import { coverStretch, joinPages, pageStretch } from './merge-requests.ts';
import type { MethodFilter, Stretch } from './merge-requests.ts';
import { slimRows } from './limit-requests.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { Gap, RequestList } from './request-list.ts';
import { client } from './client.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';
import { readList } from './request-lists.ts';

/** Rows of the first page and of those that follow while somebody scrolls. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 200;

const MINUTE_MS = 60_000;

/** Saved and unsaved requests down from an index, as one stretch. */
async function readPage(
  uid: string,
  method: MethodFilter,
  limit: number,
  before?: number,
  signal?: AbortSignal,
): Promise<Stretch> {
  const input = { params: { uid }, query: { limit, before, method } };
  const [unsaved, saved] = await Promise.all([
    client.callWithHeaders('listUnsaved', input, signal),
    client.callWithHeaders('listSaved', input, signal),
  ]);
  return joinPages(
    pageStretch(unsaved.data, unsaved.next !== undefined, before),
    pageStretch(saved.data, saved.next !== undefined, before),
  );
}

function withPage(list: RequestList, page: Stretch, method: MethodFilter): RequestList {
  return slimRows(coverStretch(list, page, method));
}

/** The requests of an endpoint, of all methods or of one. Live messages change it from then on. */
export const requestListQuery = (uid: string, method: MethodFilter) =>
  queryOptions({
    queryKey: queryKeys.requestList(uid, method),
    queryFn: async ({ signal }): Promise<RequestList> => {
      const page = await readPage(uid, method, FIRST_PAGE, undefined, signal);
      // What came live while the page was on its way is in the cache already.
      return withPage(readList(uid, method), page, method);
    },
  });

/** Fills a gap of a list from its newer end; answers how many requests were found. */
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

/** One request by its index, with the beginning of its body; `null` when it is not stored any more. */
export const requestQuery = (uid: string, index: number) =>
  queryOptions({
    queryKey: queryKeys.request(uid, index),
    queryFn: ({ signal }) => findByIndex(uid, index, signal),
    gcTime: MINUTE_MS,
  });

/** The first of a page that begins right behind it: that way nobody has to know whether it was saved, or load its whole body. */
async function findByIndex(uid: string, index: number, signal?: AbortSignal): Promise<CapturedRequest | null> {
  const input = { params: { uid }, query: { limit: 1, before: index + 1 } };
  const [unsaved, saved] = await Promise.all([
    client.call('listUnsaved', input, signal),
    client.call('listSaved', input, signal),
  ]);
  return [...saved, ...unsaved].find((request) => request.index === index) ?? null;
}
