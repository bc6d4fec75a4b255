import { BODY_PREVIEW_BYTES, unsavedId } from '@creel/contract';
import type { CapturedRequest, LiveDelivery, LiveMessage } from '@creel/contract';
import { storedBytes } from '../../database/stored-request.ts';
import type { RequestRecord, StoredAs } from '../../database/stored-request.ts';
import { presentPreview } from '../requests/service.ts';
import { inParts } from '../../bus/bus.ts';
import type { Bus, DeliveredNotice, Notice } from '../../bus/bus.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';

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
  /** `find` returns events, without those whose request no longer exists. */
  | { readonly type: 'lookup'; readonly find: () => Promise<readonly ContentEvent[]> };

/** Events of an endpoint on this node. */
export type LiveEvent =
  | FeedEvent
  | { readonly type: 'changed' }
  /** The endpoint was deleted; its live connections are closed. */
  | { readonly type: 'endpoint-deleted' };

export type EndpointMessage = Extract<LiveMessage, { type: 'endpoint' }>;

/** The parts of a stored capture that a `request` event is made of. */
export interface StoredCapture {
  readonly method: string;
  /** Encoded by `encodeHead`. */
  readonly head: string;
  readonly body: Buffer | null;
}

/** The event of a stored capture. It may wait for a slow viewer, so it copies the beginning of the body. */
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

/** Bytes that a waiting event holds. */
export function bytesOf(event: FeedEvent | RemoteEvent): number {
  if (event.type === 'request') return event.bytes;
  return event.type === 'saved' || event.type === 'delivery' ? frameOf(event).length : 0;
}

/** Events that are published one by one. */
export type PublishedEvent = Exclude<LiveEvent, { type: 'request' | 'deleted' }>;

/** The notice of an event for the other nodes. It has no content. */
export function noticeOf(endpointId: number, event: PublishedEvent): Parameters<Bus['publish']>[0] {
  switch (event.type) {
    case 'saved':
      return { kind: 'saved', endpointId, indexes: [event.request.index] };
    case 'clear':
      return { kind: 'clear', endpointId, below: event.below };
    case 'delivery':
      return { kind: 'delivered', endpointId, deliveries: [[event.data.index, event.data.delivery.id]] };
    case 'changed':
      return { kind: 'changed', endpointId };
    case 'endpoint-deleted':
      return { kind: 'gone', endpointId };
  }
}

/** Reads the content of other nodes' events. */
export interface ContentReader {
  readonly store: Pick<Remote<typeof requestQueries>, 'findSome'>;
  /** Those of the deliveries that still exist, in the same order. */
  readonly findDeliveries: (
    endpointId: number,
    deliveries: DeliveredNotice['deliveries'],
  ) => Promise<readonly LiveDelivery[]>;
}

/** Converts a notice of another node to events. */
export function eventsOf(
  notice: Notice,
  reader: ContentReader,
): readonly { readonly endpointId: number; readonly event: LiveEvent | RemoteEvent }[] {
  if (notice.kind === 'captured')
    return notice.newest.map(([endpointId, upTo]) => ({ endpointId, event: { type: 'stored', upTo } }));
  if (!('endpointId' in notice)) return [];
  const { endpointId } = notice;
  if (notice.kind === 'deleted') return notice.ids.map((id) => ({ endpointId, event: { type: 'deleted', id } }));
  if (notice.kind === 'saved')
    return inParts(notice.indexes, MAX_READ_SAVED).map((indexes) => ({
      endpointId,
      event: lookupEvent(() => findSaved(endpointId, indexes, reader)),
    }));
  return [{ endpointId, event: eventOf(notice, reader) }];
}

type ContentNotice = Exclude<Extract<Notice, { endpointId: number }>, { kind: 'deleted' | 'saved' }>;

function eventOf(notice: ContentNotice, reader: ContentReader): LiveEvent | RemoteEvent {
  switch (notice.kind) {
    case 'changed':
      return { type: 'changed' };
    case 'gone':
      return { type: 'endpoint-deleted' };
    case 'clear':
      return { type: 'clear', below: notice.below };
    case 'delivered':
      return lookupEvent(async () => asEvents(await reader.findDeliveries(notice.endpointId, notice.deliveries)));
  }
}

/** An event whose content is read when the first live connection needs it. All of them share the read. */
export function lookupEvent(find: () => Promise<readonly ContentEvent[]>): RemoteEvent {
  let found: ReturnType<typeof find> | undefined;
  return { type: 'lookup', find: () => (found ??= find()) };
}

/** Maximum requests of a read for saved ones, because viewers' memory for their bodies is limited. */
const MAX_READ_SAVED = 16;

async function findSaved(
  endpointId: number,
  indexes: readonly number[],
  { store }: ContentReader,
): Promise<readonly ContentEvent[]> {
  const records = await store.findSome(endpointId, indexes, BODY_PREVIEW_BYTES);
  const found = new Map(records.map((record) => [record.index, record]));
  return indexes.map((index) => {
    const record = found.get(index);
    const oldId = unsavedId(index);
    // A request that was deleted meanwhile: viewers know it by its old id, and its deletion is reported with the new one.
    if (record === undefined) return { type: 'deleted', id: oldId };
    return { type: 'saved', oldId, request: presentPreview(record) };
  });
}

export function asEvents(deliveries: readonly LiveDelivery[]): readonly ContentEvent[] {
  return deliveries.map((data) => ({ type: 'delivery', data }));
}
