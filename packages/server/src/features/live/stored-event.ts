import { BODY_PREVIEW_BYTES } from '@creel/contract';
import { storedBytes } from '../../database/stored-bytes.ts';
import type { RequestEvent } from './live.ts';
import { presentPreview } from '../requests/present-request.ts';

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
