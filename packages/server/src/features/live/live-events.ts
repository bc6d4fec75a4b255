import { BODY_PREVIEW_BYTES } from '@creel/contract';
import type { CapturedRequest, LiveDelivery, LiveMessage } from '@creel/contract';
import { storedBytes } from '../../database/stored-request.ts';
import type { RequestRecord, StoredAs } from '../../database/stored-request.ts';
import { presentPreview } from '../requests/service.ts';

/** A capture was stored. It is presented only when it is sent to a viewer. */
export interface RequestEvent {
  readonly type: 'request';
  readonly index: number;
  /** Bytes that the event holds until it is presented or dropped. */
  readonly bytes: number;
  readonly present: () => CapturedRequest;
}

/** Events about the requests of an endpoint, with their content. */
export type FeedEvent =
  | RequestEvent
  | { readonly type: 'saved'; readonly oldId: number; readonly request: CapturedRequest }
  | { readonly type: 'deleted'; readonly id: number }
  /** All requests with an index below `below` were removed. */
  | { readonly type: 'clear'; readonly below: number }
  | { readonly type: 'delivery'; readonly data: LiveDelivery };

/** Feed events that can be looked up. */
export type ContentEvent = Exclude<FeedEvent, RequestEvent>;

/** Events whose content is in the database, because another node sent them or they describe a state. */
export type RemoteEvent =
  /** Captures up to this index are stored. */
  | { readonly type: 'stored'; readonly upTo: number }
  /** `read` returns events, without those whose request no longer exists. */
  | { readonly type: 'lookup'; readonly read: () => Promise<readonly ContentEvent[]> };

/** Events of an endpoint on this node. */
export type LiveEvent =
  | FeedEvent
  | { readonly type: 'changed' }
  /** The endpoint was deleted; its live connections are closed. */
  | { readonly type: 'endpoint-deleted' };

export type EndpointMessage = Extract<LiveMessage, { type: 'endpoint' }>;

/** A capture as the writer received it. */
export interface StoredCapture {
  readonly method: string;
  /** Encoded by `encodeHead`. */
  readonly head: string;
  readonly body: Buffer | null;
}

/**
 * The event of a stored capture. It copies the beginning of the body, because it may wait for a slow viewer, and the
 * body shares its memory with others.
 */
export function storedEvent(endpointId: number, capture: StoredCapture, stored: StoredAs): RequestEvent {
  const { method, head } = capture;
  const size = capture.body?.length ?? 0;
  const body = capture.body && Buffer.from(capture.body.subarray(0, BODY_PREVIEW_BYTES));
  return {
    type: 'request',
    index: stored.index,
    bytes: storedBytes({ head, body }),
    present: () => presentPreview({ endpointId, ...stored, method, head: Buffer.from(head, 'latin1'), body, size }),
  };
}

/** The event of a capture that was read from storage. */
export function recordEvent(record: RequestRecord): RequestEvent {
  return {
    type: 'request',
    index: record.index,
    bytes: storedBytes(record),
    present: () => presentPreview(record),
  };
}

/** Serialized messages by event, so that an event for twenty viewers is serialized once. */
const frames = new WeakMap<FeedEvent | EndpointMessage, string>();

/** The text of the WebSocket message for an event. @throws Error when a stored request can't be presented */
export function frameOf(event: FeedEvent | EndpointMessage): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = JSON.stringify(toMessage(event));
  frames.set(event, frame);
  return frame;
}

function toMessage(event: FeedEvent | EndpointMessage): LiveMessage {
  switch (event.type) {
    case 'request':
      return { type: 'request', data: event.present() };
    case 'saved':
      return { type: 'saved', data: { oldId: event.oldId, request: event.request } };
    case 'deleted':
      return { type: 'deleted', data: { id: event.id } };
    case 'clear':
      return { type: 'clear', data: {} };
    case 'delivery':
      return { type: 'delivery', data: event.data };
    case 'endpoint':
      return event;
  }
}

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

/** Bytes that a waiting event holds. */
export function bytesOf(event: FeedEvent | RemoteEvent): number {
  if (event.type === 'request') return event.bytes;
  return event.type === 'saved' || event.type === 'delivery' ? frameOf(event).length : 0;
}
