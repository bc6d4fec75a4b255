// What live messages change in the query cache.
import { LIVE_INIT_SIZE } from '@creel/contract';
import type { EndpointDetail, LiveMessage } from '@creel/contract';
import { hashKey } from '@tanstack/react-query';
import { dropUnsavedBelow, limitDeleted, limitRows, unsavedFloor } from './limit-requests.ts';
import type { StoredUnsaved } from './limit-requests.ts';
import { addLive, applyMessages } from './merge-requests.ts';
import { updateListed } from './queries.ts';
import { queryClient, queryKeys } from './query-client.ts';
import { readsDeliveries } from './request-filter.ts';
import { rowOf } from './request-list.ts';
import { changeLists, forgetRequests, hidesRequests, readList, showSaved } from './list-cache.ts';

/** Applies messages in their order to the lists, the endpoint and the open histories. */
export function applyToCache(uid: string, messages: readonly LiveMessage[]): void {
  const isHiding = hidesRequests(uid);
  changeLists(uid, (list, accepts) => {
    const next = limitRows(applyMessages(list, messages, LIVE_INIT_SIZE, accepts));
    // Without its index, a hidden request would come back with the next `init`.
    return isHiding ? next : limitDeleted(next);
  });
  showSaved(
    uid,
    messages.flatMap((message) => (message.type === 'saved' ? [message.data.request] : [])),
  );
  for (const message of messages) {
    // A request that was opened by its address must not outlive the list.
    if (message.type === 'clear') queryClient.removeQueries({ queryKey: queryKeys.requestsOne(uid) });
  }
  forgetRequests(
    uid,
    messages.flatMap((message) => (message.type === 'deleted' ? [message.data.id] : [])),
  );
  applyDeliveries(
    uid,
    messages.flatMap((message) => (message.type === 'delivery' ? [message.data.index] : [])),
  );
  const change = messages.findLast((message) => message.type === 'endpoint');
  if (change !== undefined) applyEndpoint(uid, change.data);
  const init = messages.findLast((message) => message.type === 'init');
  if (init !== undefined) refetchOlderFigures(uid, init.data[0]?.index ?? -1);
}

/** Loads the endpoint again if requests arrived after it was loaded and before the connection was open. */
function refetchOlderFigures(uid: string, newest: number): void {
  const queryKey = queryKeys.endpoint(uid);
  const counted = queryClient.getQueryData<EndpointDetail>(queryKey)?.retention.newestIndex ?? newest;
  if (newest > counted) void queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false });
}

/** Adds requests with a new attempt to the lists whose query they match now, and loads their open history again. */
function applyDeliveries(uid: string, indexes: readonly number[]): void {
  if (indexes.length === 0) return;
  const sent = new Set(indexes);
  changeLists(uid, (list, accepts, filter) => {
    if (!readsDeliveries(filter)) return list;
    const absent = [...sent].filter((index) => rowOf(list, index) === undefined);
    const rows = absent.flatMap((index) => rowOf(readList(uid), index) ?? []);
    return rows.length === 0 ? list : addLive(list, rows, accepts);
  });
  // One pass for all of them. A request that was opened by its address has a separate copy.
  const histories = new Set([...sent].map((index) => hashKey(queryKeys.deliveries(uid, index))));
  const copies = new Set([...sent].map((index) => hashKey(queryKeys.request(uid, index))));
  const queryKey = queryKeys.requests(uid);
  // A first read that is under way would otherwise count as new, although it may have missed the attempt.
  void queryClient.cancelQueries({ queryKey, predicate: ({ queryHash }) => histories.has(queryHash) }).then(() =>
    queryClient.invalidateQueries({
      queryKey,
      predicate: ({ queryHash }) => histories.has(queryHash) || copies.has(queryHash),
    }),
  );
}

/** A change of a destination is announced as one of its endpoint. Only destinations on the screen are read again. */
function applyEndpoint(uid: string, endpoint: EndpointDetail): void {
  void queryClient.invalidateQueries({ queryKey: queryKeys.destinations(uid) });
  // A read that started before the change must not undo it.
  void queryClient.cancelQueries({ queryKey: queryKeys.endpoint(uid) });
  queryClient.setQueryData(queryKeys.endpoint(uid), endpoint);
  updateListed(endpoint);
}

/** Milliseconds to wait after the server reports how much it stores, before rows are dropped accordingly. */
const TRIM_AFTER_MS = 1000;

/**
 * Drops the rows that the server has dropped as too old. Waits a moment after each count, because messages about saves
 * and deletions that the count includes may arrive after it.
 */
export function followTrimming(uid: string) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next: StoredUnsaved | undefined;
  const wait = (stored: StoredUnsaved): void => {
    next = undefined;
    timer = setTimeout(() => {
      timer = undefined;
      const floor = unsavedFloor(readList(uid), stored);
      if (floor !== undefined)
        changeLists(uid, (list, _, { query }) => dropUnsavedBelow(list, floor, query === undefined));
      if (next !== undefined) wait(next);
    }, TRIM_AFTER_MS);
  };
  const add = (messages: readonly LiveMessage[]): void => {
    const change = messages.findLast((message) => message.type === 'endpoint');
    if (change === undefined) return;
    const { stats, retention } = change.data;
    next = { count: stats.total - retention.saved, newest: retention.newestIndex };
    if (timer === undefined) wait(next);
  };
  return { add, stop: () => clearTimeout(timer) };
}
