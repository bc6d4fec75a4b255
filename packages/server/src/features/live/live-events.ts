import { BODY_PREVIEW_BYTES } from '@creel/contract';
import type { CapturedRequest, DeliverySummary, LiveMessage } from '@creel/contract';
import type { RequestRecord } from '../../database/store.ts';
import { storedBytes } from '../../database/stored-bytes.ts';
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
  | { readonly type: 'delivery'; readonly index: number; readonly delivery: DeliverySummary };

/** Feed events that can be looked up. */
export type ContentEvent = Exclude<FeedEvent, RequestEvent>;

/** Events from another node. Their content is in the database. */
export type RemoteEvent =
  /** Captures up to this index are stored. */
  | { readonly type: 'stored'; readonly upTo: number }
  /** `read` returns the event, or `undefined` when its request no longer exists. */
  | { readonly type: 'lookup'; readonly read: () => Promise<ContentEvent | undefined> };

/** Events of an endpoint on this node. */
export type LiveEvent =
  | FeedEvent
  /** The endpoint itself was changed. */
  | { readonly type: 'changed' }
  /** The endpoint was deleted; its live connections are closed. */
  | { readonly type: 'endpoint-deleted' };

/** The `endpoint` message. */
export type EndpointMessage = Extract<LiveMessage, { type: 'endpoint' }>;

/** A capture as the writer received it. */
export interface StoredCapture {
  readonly method: string;
  /** Encoded by request-head.ts. */
  readonly head: string;
  readonly body: Buffer | null;
}

/** The ids that storage assigned. */
export interface StoredAs {
  readonly index: number;
  readonly savedId: number | null;
  readonly receivedAt: number;
}

/**
 * The event of a stored capture. It keeps only the beginning of a large body, because it may wait for a slow viewer.
 */
export function storedEvent(endpointId: number, capture: StoredCapture, stored: StoredAs): RequestEvent {
  const { method, head } = capture;
  const size = capture.body?.length ?? 0;
  const body =
    size > BODY_PREVIEW_BYTES ? Buffer.from(capture.body?.subarray(0, BODY_PREVIEW_BYTES) ?? []) : capture.body;
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
      return { type: 'delivery', data: { index: event.index, delivery: event.delivery } };
    case 'endpoint':
      return event;
  }
}
