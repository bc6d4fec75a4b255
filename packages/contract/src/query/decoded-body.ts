import { actualCoding } from '../views.ts';
import type { ContentCoding } from '../views.ts';
import { MAX_DECODED_BODY_BYTES } from './searchable-request.ts';

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
