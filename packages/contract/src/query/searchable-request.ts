import type { CapturedRequest, RawHeaders } from '../captured-request.ts';
import { targetOf } from '../views.ts';

/** Bytes of a decoded body that are searched at most. */
export const MAX_DECODED_BODY_BYTES = 1024 * 1024;

/** The latest delivery of a request. `status` is `null` where no answer came; `pending`: another attempt is planned. */
export interface LatestDelivery {
  readonly status: number | null;
  readonly pending: boolean;
}

/**
 * A request as `matches` looks at it. Everything is as it came: target and headers have one character per byte, the body is bytes.
 * What costs something is a function; it is called only when a term needs it, and at most once for each request.
 */
export interface SearchableRequest {
  readonly method: string;
  /** What follows `/h/{uid}` with the query; may be empty. */
  readonly target: string;
  readonly rawHeaders: RawHeaders;
  /** The body with its content coding removed, at most `MAX_DECODED_BODY_BYTES` of it where there was one. */
  readonly body: () => Uint8Array | null;
  /** Bytes of the body as received. */
  readonly size: number;
  readonly source: () => string;
  readonly eventType: () => string | null;
  readonly sourceIp: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly saved: boolean;
  /** Left out where nothing was sent. */
  readonly delivery?: LatestDelivery | undefined;
}

/**
 * A request of the API as `matches` looks at it. `body` is its whole body, decoded: the API's lists carry only the beginning, and each
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
  };
}

/** The bytes of a request's body, as far as the API's answer has them. */
export function bodyBytesOf({ body, bodyEncoding }: CapturedRequest): Uint8Array | null {
  if (body === null) return null;
  if (bodyEncoding === 'utf8') return new TextEncoder().encode(body);
  return Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
}
