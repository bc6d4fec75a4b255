import { listenLive, LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { LiveMessage, LiveState } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { signal, useSignal } from '../ui/state.ts';
import { applyToCache, followTrimming } from './live-messages.ts';
import { watchOutage } from './outage.ts';
import { markSessionEnded, useSignedOut } from './session.ts';
import { holdRows } from './limit-requests.ts';
import { queryClient, queryKeys } from './query-client.ts';
import { changeLists, readList } from './list-cache.ts';
import { ALL_REQUESTS } from './request-filter.ts';
import type { RequestList } from './request-list.ts';
import { missedQuery, requestListQuery } from './request-queries.ts';
import { serverState } from './server-state.ts';

/** The state of the live connection. */
export interface LiveStatus {
  readonly state: LiveState;
  /** Number of requests received since the page was opened. */
  readonly received: number;
  /** Number of messages that did not match the contract. They are dropped and logged. */
  readonly invalidMessages: number;
}

/** The status before the first connection. */
export const NOT_LIVE: LiveStatus = { state: 'connecting', received: 0, invalidMessages: 0 };

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
 * Maximum number of queued messages. Browsers delay the timers of hidden tabs by up to a minute, so a longer queue is applied
 * at once.
 */
const MAX_QUEUED_MESSAGES = 2000;

/** Maximum number of invalid messages that are logged. Further ones are only counted. */
const MAX_LOGGED_MESSAGES = 10;

const SIGNED_OUT: LiveStatus = { ...NOT_LIVE, state: 'ended' };

/** The live connection of the endpoint page. Only one is open at a time. */
const liveStatus = signal(NOT_LIVE);

function changeStatus(change: (status: LiveStatus) => Partial<LiveStatus>): void {
  const status = liveStatus.read();
  liveStatus.set({ ...status, ...change(status) });
}

/**
 * Updates the cached requests of an endpoint until the returned function is called. `isReopened` is true if messages
 * may have been missed before.
 */
function openLiveFeed(uid: string, isReopened: boolean): () => void {
  let hasMissed = isReopened;
  const count = countArrivals((received) => changeStatus((status) => ({ received: status.received + received })));
  const trim = followTrimming(uid);
  const gather = gatherFrames((messages) => {
    applyToCache(uid, messages);
    count.add(messages);
    trim.add(messages);
  });
  const close = listenLive({
    url: `${location.origin.replace(/^http/, 'ws')}/ws?endpoint=${encodeURIComponent(uid)}`,
    onMessage: gather.add,
    onInvalidMessage: logInvalidMessage,
    watchOutage,
    onState: (state, code) => {
      changeStatus((status) => ({ state: stateAfter(status.state, state) }));
      if (hasMissed && state === 'connected') refetchMissed(uid);
      if (state !== 'connecting') hasMissed = state !== 'connected';
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
    expireCopies(uid);
    liveStatus.set(NOT_LIVE);
  };
}

/** The state to show. A lost connection is `disconnected` until it is open again, because each attempt would be announced. */
export const stateAfter = (shown: LiveState, state: LiveState): LiveState =>
  shown === 'disconnected' && state === 'connecting' ? shown : state;

/** True from the loss of the connection until the next one is open, and after its end. */
export const isLost = ({ state }: Pick<LiveStatus, 'state'>): boolean => state === 'disconnected' || state === 'ended';

/** Loads again what live messages would have changed while the connection was lost. The `init` has only the requests. */
function refetchMissed(uid: string): void {
  const { endpoint, endpoints, destinations, histories, requestsOne, signatures } = queryKeys;
  const perEndpoint = [endpoint, destinations, histories, requestsOne, signatures].map((key) => key(uid));
  for (const queryKey of [endpoints, ...perEndpoint]) void queryClient.invalidateQueries({ queryKey });
}

/** Reads what stays in the cache again when it is next shown, because without a connection no live message updates it. */
function expireCopies(uid: string): void {
  for (const queryKey of [queryKeys.requestsOne(uid), queryKeys.signatures(uid)])
    void queryClient.invalidateQueries({ queryKey, refetchType: 'none' });
}

/** The endpoint was deleted elsewhere: its page shows that, and the endpoint list drops it. */
function refetchDeletedEndpoint(uid: string): void {
  void queryClient.invalidateQueries({ queryKey: queryKeys.endpoint(uid) });
  void queryClient.invalidateQueries({ queryKey: queryKeys.endpoints });
}

function logInvalidMessage(reason: string): void {
  changeStatus(({ invalidMessages }) => {
    // oxlint-disable-next-line no-console -- failures are logged to the console
    if (invalidMessages < MAX_LOGGED_MESSAGES) console.error(`live message left out: ${reason}`);
    return { invalidMessages: invalidMessages + 1 };
  });
}

/**
 * Batches live messages. A single message applies at once. Messages within the same frame apply in the next animation
 * frame, or by a timer in hidden tabs. A stream applies a few times a second.
 */
export function gatherFrames(apply: (messages: readonly LiveMessage[]) => void) {
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

/** Counts received requests and reports the count a few times a second. */
function countArrivals(report: (received: number) => void) {
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
export function countReceived(newest: number | undefined, messages: readonly LiveMessage[]) {
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

/**
 * Opens a live connection while the component is mounted. Its messages go into the query cache. `recent` has the loaded
 * requests, newest first.
 */
export function useLiveEndpoint(uid: string) {
  const signedOut = useSignedOut();
  const wasSignedOut = useRef(false);
  // Closes with the session and reopens after the next login.
  useEffect(() => {
    if (!signedOut) return openLiveFeed(uid, wasSignedOut.current);
    wasSignedOut.current = true;
    liveStatus.set(SIGNED_OUT);
    return () => liveStatus.set(NOT_LIVE);
  }, [uid, signedOut]);
  const live = useLiveStatus();
  const isUp = useSignal(serverState) === 'up';
  useQuery({ ...missedQuery(uid), enabled: isLost(live) && isUp && !signedOut });
  // Loads the list, and renders again when it has arrived or was cleared. After that, the count of received requests
  // triggers rendering, a few times a second.
  useQuery({
    ...requestListQuery(uid, ALL_REQUESTS),
    select: hasNoRows,
    notifyOnChangeProps: ['status', 'data'],
  });
  return { receivedInSession: live.received, recent: readList(uid).rows };
}

const hasNoRows = ({ rows }: RequestList): boolean => rows.length === 0;

/** The state of the connection only. On a page without an endpoint, `NOT_LIVE`. */
export const useLiveStatus = (): LiveStatus => useSignal(liveStatus);
