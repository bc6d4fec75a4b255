import { BODY_PREVIEW_BYTES, unsavedId } from '@creel/contract';
import type { CapturedRequest, LiveDelivery, LiveMessage } from '@creel/contract';
import { storedBytes } from '../../database/stored-request.ts';
import type { RequestRecord, StoredAs } from '../../database/stored-request.ts';
import { presentPreview } from '../requests/service.ts';
import { inParts } from '../../bus/bus.ts';
import type { DeliveredNotice, Notice } from '../../bus/bus.ts';
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

/** Events that are sent as they are. An `UnresolvedEvent` becomes such events. */
export type ContentEvent = Extract<LiveMessage, { type: 'saved' | 'deleted' | 'delivery' }>;

/** Events about the requests of an endpoint, with their content. */
export type FeedEvent =
  | RequestEvent
  | ContentEvent
  /** All requests with an index below `below` were removed. */
  | { readonly type: 'clear'; readonly below: number };

/**
 * Events without content: each live connection reads it from the database before it sends. They come from other nodes, or
 * report a state that may have changed meanwhile.
 */
export type UnresolvedEvent =
  /** Captures up to this index are stored. */
  | { readonly type: 'stored'; readonly upTo: number }
  /** `find` returns events, without those whose request no longer exists. */
  | { readonly type: 'lookup'; readonly find: () => Promise<readonly ContentEvent[]> };

export type EndpointMessage = Extract<LiveMessage, { type: 'endpoint' }>;

/** The parts of a stored capture that a `request` event is made of. */
export interface StoredCapture {
  readonly method: string;
  /** Encoded by `encodeHead`. */
  readonly head: string;
  readonly body: Buffer | null;
}

/** The event of a stored capture. It may wait for a slow viewer, so it copies the beginning of the body. */
export function eventOfCapture(endpointId: number, capture: StoredCapture, stored: StoredAs): RequestEvent {
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
export function eventOfRecord(record: RequestRecord): RequestEvent {
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
  if (event.type === 'request') return { type: 'request', data: event.present() };
  return event.type === 'clear' ? { type: 'clear', data: {} } : event;
}

/** Bytes that a waiting event holds. */
export function bytesOf(event: FeedEvent | UnresolvedEvent): number {
  if (event.type === 'request') return event.bytes;
  return event.type === 'saved' || event.type === 'delivery' ? frameOf(event).length : 0;
}

/** Reads the content of unresolved events. */
export interface ContentReader {
  readonly store: Pick<Remote<typeof requestQueries>, 'findSome'>;
  /** Those of the deliveries that still exist, in the same order. */
  readonly findDeliveries: (
    endpointId: number,
    deliveries: DeliveredNotice['deliveries'],
  ) => Promise<readonly LiveDelivery[]>;
}

/** Notices about the requests of an endpoint that are stored. */
type ContentNotice = Extract<Notice, { kind: 'saved' | 'deleted' | 'clear' | 'delivered' }>;

/** Converts a notice to events for the live connections of its endpoint. */
export function eventsOf(notice: ContentNotice, reader: ContentReader): readonly (FeedEvent | UnresolvedEvent)[] {
  const { endpointId } = notice;
  switch (notice.kind) {
    case 'saved':
      return inParts(notice.indexes, MAX_READ_SAVED).map((indexes) =>
        lookupEvent(() => findSaved(endpointId, indexes, reader)),
      );
    case 'deleted':
      return notice.ids.map((id) => ({ type: 'deleted', data: { id } }));
    case 'clear':
      return [{ type: 'clear', below: notice.below }];
    case 'delivered':
      return [lookupEvent(async () => asEvents(await reader.findDeliveries(endpointId, notice.deliveries)))];
  }
}

/** An event whose content is read when the first live connection needs it. All of them share the read. */
function lookupEvent(find: () => Promise<readonly ContentEvent[]>): UnresolvedEvent {
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
    if (record === undefined) return { type: 'deleted', data: { id: oldId } };
    return { type: 'saved', data: { oldId, request: presentPreview(record) } };
  });
}

function asEvents(deliveries: readonly LiveDelivery[]): readonly ContentEvent[] {
  return deliveries.map((data) => ({ type: 'delivery', data }));
}
