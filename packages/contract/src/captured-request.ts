import { z } from 'zod';
import { rawHeadersSchema } from './raw-headers.ts';
import { signatureSchema } from './signing.ts';
import { UNSAVED_ID_BASE } from './limits.ts';

/** `base64` for a body that is not valid UTF-8. */
export const bodyEncodingSchema = z.enum(['utf8', 'base64']);
export type BodyEncoding = z.infer<typeof bodyEncodingSchema>;

/** What made an attempt: `forward` is a destination, `replay` a user's replay, `cli` a `creel forward` on a user's machine. */
export const deliveryKindSchema = z.enum(['forward', 'replay', 'cli']);
export type DeliveryKind = z.infer<typeof deliveryKindSchema>;

/** The latest attempt to send a request somewhere. `status` is `null` without a response. */
export const lastDeliverySchema = z.object({
  kind: deliveryKindSchema,
  status: z.int().nullable(),
  error: z.string().nullable(),
  at: z.iso.datetime(),
});
export type LastDelivery = z.infer<typeof lastDeliverySchema>;

/** A captured request. `rawHeaders`, `rawTarget` and the body are exact; `headers` and `queryParams` are derived from them for reading. */
export const capturedRequestSchema = z.object({
  /** Positive if saved, otherwise `-(1000000 + index)`. */
  id: z.int(),
  /** Ordinal within the endpoint: 0 for the first, never reused. */
  index: z.int(),
  endpointId: z.int(),
  method: z.string(),
  /** The part of the target after `/h/{uid}`, without the query, exactly as sent. `/` if it is empty. */
  path: z.string(),
  /** The part of the target after `/h/{uid}`, with the query, exactly as sent. May be empty. Optional: docs/decisions/0016. */
  rawTarget: z.string().optional(),
  /** A repeated name has an array of values. */
  queryParams: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  /** Names in lower case. Repeated values are joined with `, ` (`cookie`: `; `). */
  headers: z.record(z.string(), z.string()),
  rawHeaders: rawHeadersSchema,
  /** Text if the bytes are valid UTF-8, otherwise base64. `null` if the request had no body. */
  body: z.string().nullable(),
  bodyEncoding: bodyEncodingSchema,
  /** True if `body` is only the beginning of the body. */
  bodyTruncated: z.boolean(),
  contentType: z.string().nullable(),
  /** Bytes of the body as received, without transfer coding and with content coding. */
  size: z.int(),
  sourceIp: z.string(),
  timestamp: z.iso.datetime(),
  saved: z.boolean(),
  /** The sender: see source-label.ts. */
  source: z.string(),
  /** The type of the reported event (event-type.ts), or `null`. */
  eventType: z.string().nullable(),
  /** The latest attempt to send this request, or `null` before the first one. */
  lastDelivery: lastDeliverySchema.nullable().default(null),
  /** True while an attempt to forward this request is planned: the first one, or another one. */
  deliveryPending: z.boolean().default(false),
});
export type CapturedRequest = z.infer<typeof capturedRequestSchema>;

/** One request, as `getRequest` returns it. `signature` is `null` if the endpoint has no signing secret. */
export const requestDetailSchema = capturedRequestSchema.extend({
  signature: signatureSchema.nullable().default(null),
});

/** A search result, with the uid of its endpoint. */
export const foundRequestSchema = capturedRequestSchema.extend({ endpointUid: z.string() });
export type FoundRequest = z.infer<typeof foundRequestSchema>;

/** Returns the id of the unsaved request with this index. */
export function unsavedId(index: number): number {
  return -(UNSAVED_ID_BASE + index);
}

/** Returns the index of the unsaved request with this id, or `undefined` if no unsaved request can have the id. */
export function indexOfUnsavedId(id: number): number | undefined {
  const index = -id - UNSAVED_ID_BASE;
  return Number.isSafeInteger(index) && index >= 0 ? index : undefined;
}
