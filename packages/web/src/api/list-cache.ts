import type { CapturedRequest } from '@creel/contract';
import { holdRows } from './limit-requests.ts';
import { dropRequests, putSaved, restoreRequests } from './merge-requests.ts';
import { queryClient, queryKeys } from './query-client.ts';
import { acceptsOf, ALL_REQUESTS } from './request-filter.ts';
import type { Accepts, RequestFilter } from './request-filter.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { ListedRequest, RequestList } from './request-list.ts';

// Lists hold thousands of rows and are replaced as a whole, so structural sharing would cost more than it saves.
queryClient.setQueryDefaults(['requests'], { structuralSharing: false });

/** Updates every loaded or loading list of an endpoint: the list of all requests and those of filters. */
export function changeLists(
  uid: string,
  change: (list: RequestList, accepts: Accepts, filter: RequestFilter) => RequestList,
): void {
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: queryKeys.requestLists(uid) })) {
    const filter = filterOfKey(queryKey);
    queryClient.setQueryData<RequestList>(queryKey, (list) => {
      // The list of a query starts from the list of all requests, which has this change.
      if (list === undefined && filter.query !== undefined) return undefined;
      const before = list ?? EMPTY_LIST;
      const after = change(before, acceptsOf(filter), filter);
      return after === before ? list : after;
    });
  }
}

/** Holds the rows of all loaded lists as they are now, or releases them. A loading list would hold back all of its rows. */
export function holdLists(uid: string, isHeld: boolean): void {
  changeLists(uid, (list) =>
    list === EMPTY_LIST ? list : holdRows(list, isHeld ? (list.hold ?? list.newest) : undefined),
  );
}

function filterOfKey([, , , method, query]: readonly unknown[]): RequestFilter {
  return {
    method: typeof method !== 'string' || method === 'all' ? undefined : method,
    query: typeof query !== 'string' || query === '' ? undefined : query,
  };
}

/** The cached list of a filter. */
export function readList(uid: string, filter: RequestFilter = ALL_REQUESTS): RequestList {
  return queryClient.getQueryData<RequestList>(queryKeys.requestList(uid, filter)) ?? EMPTY_LIST;
}

/** Requests that were saved, and ids of requests that were deleted, on this page or elsewhere. */
export interface RequestChange {
  readonly uid: string;
  readonly saved: readonly CapturedRequest[];
  readonly deleted: ReadonlySet<number>;
}

const listeners = new Set<(change: RequestChange) => void>();

/** Also calls back for requests that no list has. Returns a function that ends it. */
export function onRequestChange(listener: (change: RequestChange) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Marks requests as saved everywhere in the cache. */
export function showSaved(uid: string, requests: readonly CapturedRequest[]): void {
  if (requests.length === 0) return;
  changeLists(uid, (list, accepts) => requests.reduce((next, saved) => putSaved(next, saved, accepts), list));
  for (const { index, id } of requests)
    queryClient.setQueryData<CapturedRequest>(
      queryKeys.request(uid, index),
      (known) => known && { ...known, id, saved: true },
    );
  for (const listener of listeners) listener({ uid, saved: requests, deleted: new Set() });
}

/** By endpoint, ids of requests that `hideRequests` has removed and whose deletion the server has not reported. */
const hidden = new Map<string, Set<number>>();

/** True if the lists of an endpoint hide requests that the server still stores. */
export const hidesRequests = (uid: string): boolean => (hidden.get(uid)?.size ?? 0) > 0;

/** Removes deleted requests that were opened by their address, and does not restore those that are hidden. */
export function forgetRequests(uid: string, ids: readonly number[]): void {
  if (ids.length === 0) return;
  for (const id of ids) hidden.get(uid)?.delete(id);
  const deleted = new Set(ids);
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: queryKeys.requestsOne(uid) }))
    queryClient.setQueryData<CapturedRequest | null>(queryKey, (known) =>
      known && deleted.has(known.id) ? null : known,
    );
  for (const listener of listeners) listener({ uid, saved: [], deleted });
}

/**
 * Removes requests from the lists. The returned function restores them, or some of them, except for those that the server
 * has deleted, and returns the restored ones.
 */
export function hideRequests(
  uid: string,
  requests: readonly ListedRequest[],
): (some?: readonly ListedRequest[]) => readonly ListedRequest[] {
  changeLists(uid, (list) => dropRequests(list, requests));
  const ids = hidden.get(uid) ?? new Set();
  hidden.set(uid, ids);
  for (const { id } of requests) ids.add(id);
  return (some = requests) => {
    const restored = some.filter(({ id }) => ids.delete(id));
    changeLists(uid, (list, accepts) => restoreRequests(list, restored, accepts));
    return restored;
  };
}
