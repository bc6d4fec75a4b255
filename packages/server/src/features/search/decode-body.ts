import { MAX_DECODED_BODY_BYTES, firstHeader } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { Readable } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib';

interface Coding {
  readonly decodeSync: (bytes: Uint8Array) => Uint8Array;
  readonly decoder: () => NodeJS.ReadWriteStream & AsyncIterable<unknown>;
}

const LIMIT = { maxOutputLength: MAX_DECODED_BODY_BYTES };

const GZIP: Coding = { decodeSync: (bytes) => gunzipSync(bytes, LIMIT), decoder: () => createGunzip() };
const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { decodeSync: (bytes) => inflateSync(bytes, LIMIT), decoder: () => createInflate() }],
  ['br', { decodeSync: (bytes) => brotliDecompressSync(bytes, LIMIT), decoder: () => createBrotliDecompress() }],
]);

/** The content coding of a body, if it can be decoded. */
export function codingOf(rawHeaders: RawHeaders): Coding | undefined {
  const name = firstHeader(rawHeaders, 'content-encoding');
  return name === undefined ? undefined : CODINGS.get(name.trim().toLowerCase());
}

/** A decoded body, at most `MAX_DECODED_BODY_BYTES`; unchanged if it does not have the coding that it declares. */
export async function decodedBody(body: Uint8Array, coding: Coding): Promise<Uint8Array> {
  try {
    return coding.decodeSync(body);
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isLarge ? beginningOf(body, coding) : body;
  }
}

async function beginningOf(body: Uint8Array, coding: Coding): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of Readable.from([body]).pipe(coding.decoder())) {
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
