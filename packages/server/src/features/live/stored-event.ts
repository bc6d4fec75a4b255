import { BODY_PREVIEW_BYTES } from '@creel/contract';
import { storedBytes } from '../../database/stored-bytes.ts';
import type { RequestEvent } from './live-event.ts';
import { presentPreview } from '../requests/present-request.ts';

/** A capture as the queue knew it. */
export interface StoredCapture {
  readonly method: string;
  /** Encoded, see request-head.ts. */
  readonly head: string;
  readonly body: Buffer | null;
}

/** What storage made of it. */
export interface StoredAs {
  readonly index: number;
  readonly savedId: number | null;
  readonly receivedAt: number;
}

/**
 * The event of a capture that was stored. Of a large body only the beginning is kept: an event may wait for a slow viewer, and the
 * body must not wait with it.
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
