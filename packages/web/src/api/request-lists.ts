import type { CapturedRequest } from '@creel/contract';
import { dropRequests, putSaved, restoreRequests } from './merge-requests.ts';
import type { MethodFilter } from './merge-requests.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { ListedRequest, RequestList } from './request-list.ts';

// Lists hold thousands of rows and are replaced as a whole, so structural sharing would cost more than it saves.
queryClient.setQueryDefaults(['requests'], { structuralSharing: false });

/** Updates every loaded or loading list of an endpoint: the list of all methods and those of single methods. */
export function changeLists(uid: string, change: (list: RequestList, method: MethodFilter) => RequestList): void {
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: queryKeys.requestLists(uid) })) {
    const name = queryKey[3];
    const method = typeof name !== 'string' || name === 'all' ? undefined : name;
    queryClient.setQueryData<RequestList>(queryKey, (list) => {
      const before = list ?? EMPTY_LIST;
      const after = change(before, method);
      return after === before ? list : after;
    });
  }
}

/** The cached list of a method. */
export function readList(uid: string, method: MethodFilter): RequestList {
  return queryClient.getQueryData<RequestList>(queryKeys.requestList(uid, method)) ?? EMPTY_LIST;
}

/** Marks a request as saved everywhere in the cache. */
export function showSaved(uid: string, saved: CapturedRequest): void {
  changeLists(uid, (list, method) => putSaved(list, saved, method));
  queryClient.setQueryData<CapturedRequest>(
    queryKeys.request(uid, saved.index),
    (known) => known && { ...known, id: saved.id, saved: true },
  );
}

/** Removes a deleted request that was opened by its address. */
export function forgetRequest(uid: string, id: number): void {
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: queryKeys.requestsOne(uid) }))
    queryClient.setQueryData<CapturedRequest | null>(queryKey, (known) => (known?.id === id ? null : known));
}

/** Removes requests from the lists. The returned function restores them, or some of them. */
export function hideRequests(
  uid: string,
  requests: readonly ListedRequest[],
): (some?: readonly ListedRequest[]) => void {
  changeLists(uid, (list) => dropRequests(list, requests));
  return (some = requests) => changeLists(uid, (list, method) => restoreRequests(list, some, method));
}
