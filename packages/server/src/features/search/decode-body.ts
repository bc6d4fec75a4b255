import { actualCoding, MAX_DECODED_BODY_BYTES } from '@creel/contract';
import type { ContentCoding } from '@creel/contract';
import { Readable } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';

const LIMIT = { maxOutputLength: MAX_DECODED_BODY_BYTES };
const DECODE = { gzip: gunzipSync, deflate: inflateSync, 'deflate-raw': inflateRawSync, br: brotliDecompressSync };
const CREATE_DECODER = {
  gzip: createGunzip,
  deflate: createInflate,
  'deflate-raw': createInflateRaw,
  br: createBrotliDecompress,
};

/** A decoded body, at most `MAX_DECODED_BODY_BYTES`; unchanged if it does not have the coding that it declares. */
export async function decodedBody(body: Uint8Array, declared: ContentCoding): Promise<Uint8Array> {
  const coding = actualCoding(declared, body);
  try {
    return DECODE[coding](body, LIMIT);
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isLarge ? beginningOf(body, coding) : body;
  }
}

async function beginningOf(body: Uint8Array, coding: keyof typeof CREATE_DECODER): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of Readable.from([body]).pipe(CREATE_DECODER[coding]())) {
      if (!Buffer.isBuffer(piece)) continue;
      pieces.push(piece);
      length += piece.length;
      if (length >= MAX_DECODED_BODY_BYTES) break;
    }
  } catch {
    // Keep what was decoded before the broken part.
  }
  return Buffer.concat(pieces).subarray(0, MAX_DECODED_BODY_BYTES);
}
