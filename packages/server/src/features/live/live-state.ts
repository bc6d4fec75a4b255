import { bytesOf } from './live-events.ts';
import type { ContentEvent, EndpointMessage, FeedEvent, UnresolvedEvent } from './live-events.ts';

interface Cell<T> {
  readonly item: T;
  readonly next: Cell<T> | undefined;
}

/** Immutable queue: `push` and `shift` return a new one in constant time, on average, and the old one stays valid. */
export interface EventQueue<T> {
  /** The oldest events, oldest first. */
  readonly front: Cell<T> | undefined;
  /** The newest events, newest first. */
  readonly back: Cell<T> | undefined;
  readonly size: number;
  /** Bytes that the events hold. */
  readonly bytes: number;
}

export const EMPTY_QUEUE: EventQueue<never> = { front: undefined, back: undefined, size: 0, bytes: 0 };

export function push<T extends FeedEvent | UnresolvedEvent>(queue: EventQueue<T>, item: T): EventQueue<T> {
  const { front, back, size, bytes } = queue;
  return { front, back: { item, next: back }, size: size + 1, bytes: bytes + bytesOf(item) };
}

/** Adds an event before all others. */
export function unshift<T extends FeedEvent | UnresolvedEvent>(queue: EventQueue<T>, item: T): EventQueue<T> {
  const { front, back, size, bytes } = queue;
  return { front: { item, next: front }, back, size: size + 1, bytes: bytes + bytesOf(item) };
}

/** The oldest event and the rest; `undefined` when the queue is empty. */
export function shift<T extends FeedEvent | UnresolvedEvent>(
  queue: EventQueue<T>,
): { readonly item: T; readonly rest: EventQueue<T> } | undefined {
  const front = queue.front ?? reversed(queue.back);
  if (front === undefined) return undefined;
  const back = queue.front === undefined ? undefined : queue.back;
  const { item, next } = front;
  return { item, rest: { front: next, back, size: queue.size - 1, bytes: queue.bytes - bytesOf(item) } };
}

function reversed<T>(list: Cell<T> | undefined): Cell<T> | undefined {
  let result: Cell<T> | undefined;
  for (let cell = list; cell !== undefined; cell = cell.next) result = { item: cell.item, next: result };
  return result;
}

/**
 * What one live connection has sent and has to send: `init`, then every event once, in order (docs/architecture.md,
 * "Live"). Beyond a limit of memory, all events are dropped and a new `init` follows.
 */
export interface LiveState {
  /** `behind`: an `init` is needed, at the start or because events were dropped. */
  readonly phase: 'loading' | 'sending' | 'live' | 'behind' | 'stopped';
  readonly ready: EventQueue<FeedEvent>;
  /** Events that arrived during a read. */
  readonly held: EventQueue<FeedEvent | UnresolvedEvent>;
  /** Id of the read that `held` waits for, and of the last read. */
  readonly reading: number | undefined;
  readonly lastRead: number;
  /** Bytes of the remaining parts of an `init`, and of the text of one part. */
  readonly initBytes: number;
  readonly partBytes: number;
  /** Bytes of the `init` that did not fit; it is read again when they are available. */
  readonly neededBytes: number;
  /** The newest unsent one; a newer one replaces it. */
  readonly endpoint: EndpointMessage | undefined;
  /** Every request up to this index was sent, is in `ready`, or no longer exists. */
  readonly newest: number;
  /** Highest index in the last snapshot. */
  readonly snapshotNewest: number;
  /** Events during a snapshot: `stale` makes it invalid, `overflowed` requires another one. */
  readonly meanwhile: 'nothing' | 'overflowed' | 'stale';
  /** Whether the timer runs. */
  readonly isTimed: boolean;
  readonly flushedAt: number;
}

export type Input =
  | { readonly type: 'start' }
  | { readonly type: 'event'; readonly event: FeedEvent | UnresolvedEvent }
  | { readonly type: 'endpoint'; readonly message: EndpointMessage }
  /** The result of `load`: its highest index, the bytes that it holds, and the maximum bytes of a part. */
  | { readonly type: 'snapshot'; readonly newest: number; readonly bytes: number; readonly partBytes: number }
  | { readonly type: 'snapshot-failed' }
  | { readonly type: 'part-sent'; readonly bytes: number; readonly partBytes: number; readonly isLast: boolean }
  /** The result of `read`: every request up to `upTo`, oldest first. */
  | { readonly type: 'found'; readonly readId: number; readonly upTo: number; readonly events: readonly FeedEvent[] }
  | { readonly type: 'looked-up'; readonly readId: number; readonly events: readonly ContentEvent[] }
  | { readonly type: 'read-failed'; readonly readId: number; readonly reason: 'error' | 'too-many' }
  | { readonly type: 'timer' }
  /** Notices from other nodes were lost. */
  | { readonly type: 'gap' }
  | { readonly type: 'stop' };

export type Effect =
  /** Reads the newest requests. */
  | { readonly type: 'load' }
  /** Sends the next part of the `init` that was loaded. */
  | { readonly type: 'send-part' }
  /** Reads the requests with an index above `after`, up to `upTo`. */
  | { readonly type: 'read'; readonly readId: number; readonly after: number; readonly upTo: number }
  | { readonly type: 'lookup'; readonly readId: number; readonly find: () => Promise<readonly ContentEvent[]> }
  /** Sends messages together. */
  | { readonly type: 'send'; readonly frames: readonly string[] }
  /** Starts the timer, or replaces it. */
  | { readonly type: 'timer'; readonly ms: number }
  | { readonly type: 'report'; readonly error: unknown };

/** What the connection measures when an input arrives. */
export interface LiveContext {
  /** Milliseconds of a monotonic clock. */
  readonly now: number;
  /** Bytes that the network has not accepted yet. */
  readonly pendingBytes: number;
  /** Maximum bytes that this connection may hold. */
  readonly maxBytes: number;
}

export type Step = readonly [LiveState, readonly Effect[]];

export const NEW_LIVE_STATE: LiveState = {
  phase: 'behind',
  ready: EMPTY_QUEUE,
  held: EMPTY_QUEUE,
  reading: undefined,
  lastRead: 0,
  initBytes: 0,
  partBytes: 0,
  neededBytes: 0,
  endpoint: undefined,
  newest: -1,
  snapshotNewest: -1,
  meanwhile: 'nothing',
  isTimed: false,
  flushedAt: -Infinity,
};

/** Spread into a state, it drops all events and ignores the result of a read in progress. */
export const NO_EVENTS = { ready: EMPTY_QUEUE, held: EMPTY_QUEUE, reading: undefined };

/** Bytes that a connection holds, with `pendingBytes` that the network has not accepted. */
export function heldBytes(state: LiveState, pendingBytes: number): number {
  return state.ready.bytes + state.held.bytes + state.initBytes + Math.max(state.partBytes, pendingBytes);
}
