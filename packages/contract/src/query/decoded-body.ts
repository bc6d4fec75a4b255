import { actualCoding } from '../views.ts';
import type { ContentCoding } from '../views.ts';
import { MAX_DECODED_BODY_BYTES } from './searchable-request.ts';

/** Decodes bytes in pieces. Throws if they do not have the coding. Each platform has its own decoders. */
export type Decode = (coding: ContentCoding | 'deflate-raw', bytes: Uint8Array) => AsyncIterable<Uint8Array>;

/** A body as searches examine it: decoded, at most `MAX_DECODED_BODY_BYTES`. Unchanged if it does not have the coding that it declares. */
export async function decodedBody(body: Uint8Array, declared: ContentCoding, decode: Decode): Promise<Uint8Array> {
  const decoded = new Uint8Array(MAX_DECODED_BODY_BYTES);
  let length = 0;
  try {
    for await (const piece of decode(actualCoding(declared, body), body)) {
      const kept = piece.subarray(0, decoded.length - length);
      decoded.set(kept, length);
      length += kept.length;
      if (length === decoded.length) break;
    }
  } catch {
    return body;
  }
  return decoded.slice(0, length);
}
