import { bytesOf } from './live-events.ts';
import type { FeedEvent, RemoteEvent } from './live-events.ts';

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

export function push<T extends FeedEvent | RemoteEvent>(queue: EventQueue<T>, item: T): EventQueue<T> {
  const { front, back, size, bytes } = queue;
  return { front, back: { item, next: back }, size: size + 1, bytes: bytes + bytesOf(item) };
}

/** Adds an event before all others. */
export function unshift<T extends FeedEvent | RemoteEvent>(queue: EventQueue<T>, item: T): EventQueue<T> {
  const { front, back, size, bytes } = queue;
  return { front: { item, next: front }, back, size: size + 1, bytes: bytes + bytesOf(item) };
}

/** The oldest event and the rest; `undefined` when the queue is empty. */
export function shift<T extends FeedEvent | RemoteEvent>(
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
