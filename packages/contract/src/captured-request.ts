import { z } from 'zod';
import { UNSAVED_ID_BASE } from './limits.ts';

/** `[name, value]` pairs with the case, the order and the repeats of the wire. */
export const rawHeadersSchema = z.array(z.tuple([z.string(), z.string()]));
export type RawHeaders = z.infer<typeof rawHeadersSchema>;

export const bodyEncodingSchema = z.enum(['utf8', 'base64']);
export type BodyEncoding = z.infer<typeof bodyEncodingSchema>;

/** A request as it was captured (contract 2). `headers` and `queryParams` are views; `rawHeaders`, `rawTarget` and the body are the truth. */
export const capturedRequestSchema = z.object({
  /** Positive when saved, else `-(1000000 + index)`. */
  id: z.int(),
  /** Ordinal within the endpoint: 0 for the first, never reused. */
  index: z.int(),
  endpointId: z.int(),
  method: z.string(),
  /** What follows `/h/{uid}`, exactly as sent, without the query; `/` when empty. */
  path: z.string(),
  /** What follows `/h/{uid}` with the query, exactly as sent; may be empty. Not in contract 2 (decision 0016): programs may leave it out. */
  rawTarget: z.string().optional(),
  /** A name that occurs more than once has the list of its values. */
  queryParams: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  /** Lower-case names; repeats joined with `, ` (`cookie`: `; `). */
  headers: z.record(z.string(), z.string()),
  rawHeaders: rawHeadersSchema,
  /** Text where the bytes are valid UTF-8, else base64; `null` when there was no body. */
  body: z.string().nullable(),
  bodyEncoding: bodyEncodingSchema,
  /** True when `body` holds only the beginning. */
  bodyTruncated: z.boolean(),
  contentType: z.string().nullable(),
  /** Bytes of the body as received: transfer coding removed, content coding kept. */
  size: z.int(),
  sourceIp: z.string(),
  timestamp: z.iso.datetime(),
  saved: z.boolean(),
  /** Who sent it (source-label.ts). */
  source: z.string(),
  /** The type of the event that it reports (event-type.ts); `null` where it names none. */
  eventType: z.string().nullable(),
});
export type CapturedRequest = z.infer<typeof capturedRequestSchema>;

/** A search result says whose it is (contract 4). */
export const foundRequestSchema = capturedRequestSchema.extend({ endpointUid: z.string() });
export type FoundRequest = z.infer<typeof foundRequestSchema>;

/** The id of an unsaved request (contract 2). */
export function unsavedId(index: number): number {
  return -(UNSAVED_ID_BASE + index);
}

/** The index behind an unsaved request's id, or `undefined` when no unsaved request can have this id. */
export function indexOfUnsavedId(id: number): number | undefined {
  const index = -id - UNSAVED_ID_BASE;
  return Number.isSafeInteger(index) && index >= 0 ? index : undefined;
}
