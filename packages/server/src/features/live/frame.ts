import type { LiveMessage } from '@creel/contract';
import type { EndpointMessage, FeedEvent } from './live.ts';

/** Serialized messages by event, so that an event for twenty viewers is serialized once. */
const frames = new WeakMap<FeedEvent | EndpointMessage, string>();

/** The text of the WebSocket message for an event. */
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
