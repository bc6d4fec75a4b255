import type { CapturedRequest } from '../captured-request.ts';
import type { RawHeaders } from '../raw-headers.ts';
import { targetOf, actualCoding } from '../views.ts';
import type { ContentCoding } from '../views.ts';

/** Maximum bytes of a decoded body that are searched. */
export const MAX_DECODED_BODY_BYTES = 1024 * 1024;

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
  /**
   * The latest delivery. `status` is `null` without a response, and `undefined` before the first attempt. `pending` means that an
   * attempt is planned.
   */
  readonly delivery?: { readonly status: number | null | undefined; readonly pending: boolean } | undefined;
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
    delivery: { status: request.lastDelivery?.status, pending: request.deliveryPending },
  };
}

/** Decodes bytes in pieces. Throws if they do not have the coding. Each platform has its own decoders. */
export type Decode = (coding: ContentCoding | 'deflate-raw', bytes: Uint8Array) => AsyncIterable<Uint8Array>;

/**
 * A body as searches examine it: decoded from all codings, at most `MAX_DECODED_BODY_BYTES`, also between two codings.
 * Unchanged if it does not have the codings that it declares.
 */
export async function decodedBody(
  body: Uint8Array,
  declared: readonly ContentCoding[],
  decode: Decode,
): Promise<Uint8Array> {
  let step: Step = { bytes: body, isCut: false };
  for (const coding of declared.toReversed()) {
    const decoded = await decodeStep(step, coding, decode);
    if (decoded === undefined) return body;
    step = decoded;
  }
  return step.bytes;
}

interface Step {
  readonly bytes: Uint8Array;
  /** True if these are only the beginning. */
  readonly isCut: boolean;
}

/** Decodes one coding; `undefined` if the bytes do not have it. */
async function decodeStep(from: Step, coding: ContentCoding, decode: Decode): Promise<Step | undefined> {
  const decoded = new Uint8Array(MAX_DECODED_BODY_BYTES);
  let length = 0;
  try {
    for await (const piece of decode(actualCoding(coding, from.bytes), from.bytes)) {
      const kept = piece.subarray(0, decoded.length - length);
      decoded.set(kept, length);
      length += kept.length;
      if (length === decoded.length) return { bytes: decoded, isCut: true };
    }
  } catch {
    // The beginning of a coded body ends in the middle of it.
    if (!from.isCut) return undefined;
  }
  return { bytes: decoded.slice(0, length), isCut: from.isCut };
}
