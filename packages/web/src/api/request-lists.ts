import type { CapturedRequest } from '@creel/contract';
import { dropRequest, putSaved, restoreRequest } from './merge-requests.ts';
import type { MethodFilter } from './merge-requests.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { ListedRequest, RequestList } from './request-list.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';

// Lists hold thousands of rows and are replaced whole, so looking for what stayed the same would cost more than it saves.
queryClient.setQueryDefaults(['requests'], { structuralSharing: false });

/** Changes every list of an endpoint that the page has or is loading: the one of all methods and those of single ones. */
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

/** What the page holds of one list. */
export function readList(uid: string, method: MethodFilter): RequestList {
  return queryClient.getQueryData<RequestList>(queryKeys.requestList(uid, method)) ?? EMPTY_LIST;
}

/** Shows a request as saved, wherever it is shown. */
export function showSaved(uid: string, saved: CapturedRequest): void {
  changeLists(uid, (list, method) => putSaved(list, saved, method));
  queryClient.setQueryData<CapturedRequest>(
    queryKeys.request(uid, saved.index),
    (known) => known && { ...known, id: saved.id, saved: true },
  );
}

/** What was looked at by its address alone is not stored any more, either. */
export function forgetRequest(uid: string, id: number): void {
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: queryKeys.requestsOne(uid) }))
    queryClient.setQueryData<CapturedRequest | null>(queryKey, (known) => (known?.id === id ? null : known));
}

/** Takes a request from the lists; the returned function puts it back. */
export function hideRequest(uid: string, request: ListedRequest): () => void {
  changeLists(uid, (list) => dropRequest(list, request.id));
  return () =>
    changeLists(uid, (list, method) =>
      method === undefined || method === request.method ? restoreRequest(list, request) : list,
    );
}
