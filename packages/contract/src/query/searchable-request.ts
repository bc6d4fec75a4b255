import type { CapturedRequest } from '../captured-request.ts';
import type { RawHeaders } from '../raw-headers.ts';
import { targetOf } from '../views.ts';

/** Maximum bytes of a decoded body that are searched. */
export const MAX_DECODED_BODY_BYTES = 1024 * 1024;

/**
 * The latest delivery of a request. `status` is `null` without a response, and `undefined` before the first attempt. `pending` means
 * that an attempt is planned.
 */
export interface LatestDelivery {
  readonly status: number | null | undefined;
  readonly pending: boolean;
}

/**
 * A request as a matcher reads it. The target and headers have one character per byte, and the body is bytes. Expensive parts are
 * functions, which are called at most once and only if a term needs them.
 */
export interface SearchableRequest {
  readonly method: string;
  /** The part of the target after `/h/{uid}`, with the query. May be empty. */
  readonly target: string;
  readonly rawHeaders: RawHeaders;
  /** The body without its content codings, cut to `MAX_DECODED_BODY_BYTES` if it was decoded. */
  readonly body: () => Uint8Array | null;
  /** Bytes of the body as received. */
  readonly size: number;
  readonly source: () => string;
  readonly eventType: () => string | null;
  readonly sourceIp: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly saved: boolean;
  /** Absent if the request was never sent to a destination. */
  readonly delivery?: LatestDelivery | undefined;
}

/**
 * Converts a request of the API for a matcher. `body` returns the whole decoded body, because lists contain only the beginning and each
 * platform decodes in its own way.
 */
export function searchableRequest(request: CapturedRequest, body: () => Uint8Array | null): SearchableRequest {
  return {
    method: request.method,
    target: targetOf(request),
    rawHeaders: request.rawHeaders,
    body,
    size: request.size,
    source: () => request.source,
    eventType: () => request.eventType,
    sourceIp: request.sourceIp,
    receivedAt: Date.parse(request.timestamp),
    saved: request.saved,
    delivery: latestDeliveryOf(request),
  };
}

function latestDeliveryOf({ lastDelivery, deliveryPending }: CapturedRequest): LatestDelivery | undefined {
  if (lastDelivery === null && !deliveryPending) return undefined;
  return { status: lastDelivery?.status, pending: deliveryPending };
}
