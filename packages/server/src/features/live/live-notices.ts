import { BODY_PREVIEW_BYTES, unsavedId } from '@creel/contract';
import type { LiveDelivery } from '@creel/contract';
import type { Bus, Notice } from '../../bus/bus.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';
import { presentPreview } from '../requests/service.ts';
import type { ContentEvent, LiveEvent, RemoteEvent, RequestEvent } from './live-events.ts';

/** The notice of an event for the other nodes. It has no content. */
export function noticeOf(endpointId: number, event: Exclude<LiveEvent, RequestEvent>): Parameters<Bus['publish']>[0] {
  switch (event.type) {
    case 'saved':
      return { kind: 'saved', endpointId, id: event.request.id };
    case 'deleted':
      return { kind: 'deleted', endpointId, id: event.id };
    case 'clear':
      return { kind: 'clear', endpointId, below: event.below };
    case 'delivery':
      return { kind: 'delivery', endpointId, index: event.data.index, id: event.data.delivery.id };
    case 'changed':
      return { kind: 'changed', endpointId };
    case 'endpoint-deleted':
      return { kind: 'gone', endpointId };
  }
}

/** Reads the content of other nodes' events. */
export interface ContentReader {
  readonly store: Pick<Remote<typeof requestQueries>, 'findRequest'>;
  /** An attempt to deliver a request, or, for 0, why the request is not forwarded. */
  readonly findDelivery: (endpointId: number, index: number, id: number) => Promise<LiveDelivery | undefined>;
}

/** The events that a notice of another node is about. Content is read when the first live connection needs it. */
export function eventsOf(
  notice: Notice,
  reader: ContentReader,
): readonly { readonly endpointId: number; readonly event: LiveEvent | RemoteEvent }[] {
  if (notice.kind === 'captured')
    return notice.newest.map(([endpointId, upTo]) => ({ endpointId, event: { type: 'stored', upTo } }));
  if (!('endpointId' in notice)) return [];
  return [{ endpointId: notice.endpointId, event: eventOf(notice, reader) }];
}

function eventOf(notice: Extract<Notice, { endpointId: number }>, reader: ContentReader): LiveEvent | RemoteEvent {
  switch (notice.kind) {
    case 'changed':
      return { type: 'changed' };
    case 'gone':
      return { type: 'endpoint-deleted' };
    case 'deleted':
      return { type: 'deleted', id: notice.id };
    case 'clear':
      return { type: 'clear', below: notice.below };
    case 'saved':
      return lookup(() => findSaved(notice, reader));
    case 'delivery':
      return lookup(() => findDelivery(notice, reader));
  }
}

/** Several live connections share one read. */
export function lookup(find: () => Promise<readonly ContentEvent[]>): RemoteEvent {
  let found: ReturnType<typeof find> | undefined;
  return { type: 'lookup', read: () => (found ??= find()) };
}

async function findSaved(
  { endpointId, id }: Extract<Notice, { kind: 'saved' }>,
  { store }: ContentReader,
): Promise<readonly ContentEvent[]> {
  const record = await store.findRequest(endpointId, { savedId: id }, BODY_PREVIEW_BYTES);
  return record ? [{ type: 'saved', oldId: unsavedId(record.index), request: presentPreview(record) }] : [];
}

async function findDelivery(
  { endpointId, index, id }: Extract<Notice, { kind: 'delivery' }>,
  reader: ContentReader,
): Promise<readonly ContentEvent[]> {
  const data = await reader.findDelivery(endpointId, index, id);
  return data ? [{ type: 'delivery', data }] : [];
}
