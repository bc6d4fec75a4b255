import { listenLive, LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT, LIVE_INIT_SIZE } from '@creel/contract';
import type { EndpointDetail, LiveMessage, LiveState } from '@creel/contract';
import { hashKey } from '@tanstack/react-query';
import { markSessionEnded } from './connection.ts';
import { dropUnsavedBelow, holdRows, limitDeleted, limitRows, unsavedFloor } from './limit-requests.ts';
import type { StoredUnsaved } from './limit-requests.ts';
import { addLive, applyMessages } from './merge-requests.ts';
import { patchEndpoint } from './queries.ts';
import { queryClient, queryKeys } from './query-client.ts';
import { readsDeliveries } from './request-filter.ts';
import { rowOf } from './request-list.ts';
import { changeLists, forgetRequest, readList, showSaved } from './request-lists.ts';

/** The state of the live connection. */
export interface LiveStatus {
  readonly state: LiveState;
  /** True from a lost connection until the next one is open. */
  readonly lost: boolean;
  /** Number of attempts to reconnect that have failed since the connection was lost. */
  readonly failedAttempts: number;
  /** Number of requests received since the page was opened. */
  readonly received: number;
  /** Number of messages that did not match the contract. They are dropped and logged. */
  readonly badFrames: number;
}

export const NOT_LIVE: LiveStatus = { state: 'connecting', lost: false, failedAttempts: 0, received: 0, badFrames: 0 };

/** Milliseconds to wait after the server reports how much it stores, before rows are dropped accordingly. */
const TRIM_AFTER_MS = 1000;

/** Milliseconds between two updates of the count of received requests. */
const COUNT_MS = 250;

/** Milliseconds: slightly more than one animation frame at 60 Hz. */
const FRAME_MS = 20;

/**
 * More messages than this in one frame count as a stream. A stream is rendered less often to keep the page responsive.
 */
const STREAM = 15;

/** Milliseconds between two renderings of a stream. */
const STREAM_MS = 150;

/** Milliseconds after which messages are applied without an animation frame, which hidden tabs don't get. */
const HIDDEN_MS = 250;

/**
 * Maximum of queued messages. Browsers delay the timers of hidden tabs by up to a minute, so a longer queue is applied
 * at once.
 */
const MAX_QUEUED_MESSAGES = 2000;

/** Maximum of invalid messages that are logged. Further ones are only counted. */
const MAX_LOGGED_MESSAGES = 10;

function changeStatus(uid: string, change: (status: LiveStatus) => Partial<LiveStatus>): void {
  queryClient.setQueryData<LiveStatus>(queryKeys.live(uid), (status = NOT_LIVE) => ({ ...status, ...change(status) }));
}

/** Updates the cached requests of an endpoint until the returned function is called. */
export function openLiveFeed(uid: string): () => void {
  const count = countArrivals((received) => changeStatus(uid, (status) => ({ received: status.received + received })));
  const trim = followTrimming(uid);
  const gather = gatherFrames((messages) => {
    applyFrames(uid, messages);
    count.add(messages);
    trim.add(messages);
  });
  const close = listenLive({
    url: `${location.origin.replace(/^http/, 'ws')}/ws?endpoint=${encodeURIComponent(uid)}`,
    onMessage: gather.add,
    onBadFrame: (reason) => logBadFrame(uid, reason),
    onState: (state, code) => {
      changeStatus(uid, (status) => connectionAfter(status, state));
      if (code === LIVE_CLOSE_SIGNED_OUT) markSessionEnded();
      if (code === LIVE_CLOSE_ENDPOINT_GONE) refetchDeletedEndpoint(uid);
    },
  });
  return () => {
    close();
    gather.stop();
    count.stop();
    trim.stop();
    changeLists(uid, (list) => holdRows(list, undefined));
    queryClient.removeQueries({ queryKey: queryKeys.live(uid) });
  };
}

/** The connection after a change of its state. A close during an attempt to connect is a failed attempt. */
export function connectionAfter(
  { state: before, lost, failedAttempts }: LiveStatus,
  state: LiveState,
): Pick<LiveStatus, 'state' | 'lost' | 'failedAttempts'> {
  if (state === 'connecting') return { state, lost, failedAttempts };
  if (state === 'connected') return { state, lost: false, failedAttempts: 0 };
  return { state, lost: true, failedAttempts: failedAttempts + (before === 'connecting' ? 1 : 0) };
}

/** The endpoint was deleted elsewhere: its page shows that, and the endpoint list drops it. */
function refetchDeletedEndpoint(uid: string): void {
  void queryClient.invalidateQueries({ queryKey: queryKeys.endpoint(uid) });
  void queryClient.invalidateQueries({ queryKey: queryKeys.endpoints });
}

function logBadFrame(uid: string, reason: string): void {
  changeStatus(uid, ({ badFrames }) => {
    // oxlint-disable-next-line no-console -- failures are logged to the console
    if (badFrames < MAX_LOGGED_MESSAGES) console.error(`live message left out: ${reason}`);
    return { badFrames: badFrames + 1 };
  });
}

/**
 * Batches live messages. Applies a single message at once, messages within the same frame in the next animation frame
 * (or by a timer in hidden tabs), and a stream a few times a second.
 */
export function gatherFrames(apply: (messages: readonly LiveMessage[]) => void): {
  add: (message: LiveMessage) => void;
  stop: () => void;
} {
  let waiting: LiveMessage[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let appliedAt = Number.NEGATIVE_INFINITY;
  let isStream = false;
  const stop = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = undefined;
  };
  const flush = (): void => {
    stop();
    const messages = waiting;
    waiting = [];
    apply(messages);
    appliedAt = performance.now();
    isStream = messages.length > STREAM;
  };
  const add = (message: LiveMessage): void => {
    waiting.push(message);
    if (waiting.length >= MAX_QUEUED_MESSAGES) return flush();
    if (timer !== undefined) return;
    if (performance.now() - appliedAt > (isStream ? STREAM_MS : FRAME_MS)) return flush();
    if (!isStream) frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, isStream ? STREAM_MS : HIDDEN_MS);
  };
  return { add, stop };
}

function applyFrames(uid: string, messages: readonly LiveMessage[]): void {
  changeLists(uid, (list, accepts) => limitDeleted(limitRows(applyMessages(list, messages, LIVE_INIT_SIZE, accepts))));
  for (const message of messages) {
    if (message.type === 'saved') showSaved(uid, message.data.request);
    if (message.type === 'deleted') forgetRequest(uid, message.data.id);
    // A request that was opened by its address must not outlive the list.
    if (message.type === 'clear') queryClient.removeQueries({ queryKey: queryKeys.requestsOne(uid) });
  }
  applyDeliveries(
    uid,
    messages.flatMap((message) => (message.type === 'delivery' ? [message.data.index] : [])),
  );
  const change = messages.findLast((message) => message.type === 'endpoint');
  if (change?.type === 'endpoint') applyEndpoint(uid, change.data);
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
  // One pass for all of them. A request that was opened by its address has a copy of its own.
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

/** Counts received requests and reports the count a few times a second. */
function countArrivals(report: (received: number) => void): {
  add: (messages: readonly LiveMessage[]) => void;
  stop: () => void;
} {
  let newest: number | undefined;
  let unreported = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    report(unreported);
    unreported = 0;
  };
  const add = (messages: readonly LiveMessage[]): void => {
    const counted = countReceived(newest, messages);
    newest = counted.newest;
    unreported += counted.received;
    if (unreported > 0) timer ??= setTimeout(flush, COUNT_MS);
  };
  return { add, stop: () => clearTimeout(timer) };
}

/**
 * Counts the requests in these messages. Requests that an `init` replaces after a reconnect are counted by their
 * indexes. The first `init` counts none.
 */
export function countReceived(
  newest: number | undefined,
  messages: readonly LiveMessage[],
): { received: number; newest: number | undefined } {
  let known = newest;
  let received = 0;
  for (const message of messages) {
    if (message.type === 'init') {
      const index = message.data[0]?.index ?? -1;
      if (known !== undefined) received += Math.max(0, index - known);
      known = Math.max(known ?? -1, index);
    } else if (message.type === 'request') {
      received++;
      known = Math.max(known ?? -1, message.data.index);
    }
  }
  return { received, newest: known };
}

/** A change of a destination is announced as one of its endpoint. Only destinations on the screen are read again. */
function applyEndpoint(uid: string, endpoint: EndpointDetail): void {
  void queryClient.invalidateQueries({ queryKey: queryKeys.destinations(uid) });
  queryClient.setQueryData(queryKeys.endpoint(uid), endpoint);
  const { stats: _, ...listed } = endpoint;
  patchEndpoint(uid, listed);
}

/**
 * Drops the rows that the server has dropped as too old. Waits a moment after each count, because messages about saves
 * and deletions that the count includes may arrive after it.
 */
function followTrimming(uid: string): { add: (messages: readonly LiveMessage[]) => void; stop: () => void } {
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
    if (change?.type !== 'endpoint') return;
    const { total, saved, newestIndex } = change.data.stats;
    next = { count: total - saved, newest: newestIndex };
    if (timer === undefined) wait(next);
  };
  return { add, stop: () => clearTimeout(timer) };
}
