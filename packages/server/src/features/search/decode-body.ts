import { actualCoding, decodedBody as decodedInPieces, MAX_DECODED_BODY_BYTES } from '@creel/contract';
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
import { codeOf } from '../../error-code.ts';

const LIMIT = { maxOutputLength: MAX_DECODED_BODY_BYTES };
const DECODE = { gzip: gunzipSync, deflate: inflateSync, 'deflate-raw': inflateRawSync, br: brotliDecompressSync };
const CREATE_DECODER = {
  gzip: createGunzip,
  deflate: createInflate,
  'deflate-raw': createInflateRaw,
  br: createBrotliDecompress,
};

/** The contract's `decodedBody`, and faster for the bodies that are never longer than the maximum. */
export async function decodedBody(body: Uint8Array, declared: readonly ContentCoding[]): Promise<Uint8Array> {
  try {
    return declared.reduceRight((bytes, coding) => DECODE[actualCoding(coding, bytes)](bytes, LIMIT), body);
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return body;
    return decodedInPieces(body, declared, (coding, bytes) => Readable.from([bytes]).pipe(CREATE_DECODER[coding]()));
  }
}
