import { MAX_CONTENT_CODINGS, actualCoding, codingNamesOf, contentCodingOf } from '@creel/contract';
import type { unbrotli } from './brotli.ts';

/** Maximum number of decoded bytes. A small body may decompress to gigabytes. */
export const MAX_DECODED_BYTES = 8 * 1024 * 1024;

/** A body after its content coding (RFC 9110, section 8.4) is decoded. */
export type Decoded =
  | { readonly outcome: 'none' }
  | {
      readonly outcome: 'decoded';
      readonly coding: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly cut: boolean;
    }
  | { readonly outcome: 'failed'; readonly coding: string; readonly reason: string };

/** Loads a decoder for brotli, because browsers offer pages none. */
export type LoadBrotli = () => Promise<typeof unbrotli>;

interface DecodeOptions {
  /** Maximum number of decoded bytes. */
  readonly limit?: number;
  /** True if the bytes are only the first part of the body. The result is then partial. */
  readonly beginning?: boolean;
}

/**
 * Decodes a body for display; it is stored as received. The result says why a body can't be decoded. Rejects only if the
 * decoder for brotli can't be loaded.
 */
export async function decodeBody(
  bytes: Uint8Array<ArrayBuffer>,
  contentEncoding: string | undefined,
  loadBrotli: LoadBrotli,
  { limit = MAX_DECODED_BYTES, beginning = false }: DecodeOptions = {},
): Promise<Decoded> {
  const codings = codingNamesOf(contentEncoding);
  if (codings.length === 0 || bytes.length === 0) return { outcome: 'none' };
  const coding = codings.join(', ');
  if (codings.length > MAX_CONTENT_CODINGS)
    return {
      outcome: 'failed',
      coding,
      reason: `More than ${MAX_CONTENT_CODINGS} codings can't be shown decoded here.`,
    };
  let current: Step = { bytes, cut: beginning };
  for (const name of codings.toReversed()) {
    const known = contentCodingOf(name);
    if (known === undefined) return { outcome: 'failed', coding, reason: `${name} can't be shown decoded here.` };
    const decode = await decoderFor(actualCoding(known, current.bytes), loadBrotli);
    const step = await decode(current, limit).catch(() => undefined);
    if (step === undefined) return { outcome: 'failed', coding, reason: failure(name, known === 'br' && current.cut) };
    current = step;
  }
  return { outcome: 'decoded', coding, ...current };
}

/** The decoder for brotli has no result before the end. */
function failure(name: string, needsWhole: boolean): string {
  return needsWhole ? `The beginning of a ${name} body can't be decoded alone.` : `The body is not valid ${name}.`;
}

interface Step {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the body continues after these bytes. */
  readonly cut: boolean;
}

type Decode = (from: Step, limit: number) => Promise<Step>;

/** The function that decodes a coding. It rejects if the bytes are not valid. */
async function decoderFor(coding: ReturnType<typeof actualCoding>, loadBrotli: LoadBrotli): Promise<Decode> {
  if (coding === 'gzip') return gunzip;
  if (coding !== 'br') return (from, limit) => unpack(coding, from, limit);
  const decode = await loadBrotli();
  return async (from, limit) => {
    const { bytes, cut } = decode(from.bytes, limit);
    return { bytes, cut: cut || from.cut };
  };
}

/** Length of the shortest member: a header of 10 bytes, an empty block of 2, and a trailer of 8. */
const MIN_MEMBER_BYTES = 20;

/** Compressed data may contain what looks like a header. Each one costs an attempt to decompress. */
const MAX_WRONG_HEADERS = 64;

/** `gzip` may have several members, one after the other (RFC 1952, section 2.2). Browsers decompress only the first. */
async function gunzip({ bytes, cut }: Step, limit: number): Promise<Step> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let start = 0;
  let wrongHeaders = 0;
  for (let end = memberHeader(bytes, MIN_MEMBER_BYTES); ; end = memberHeader(bytes, end + 1)) {
    if (wrongHeaders > MAX_WRONG_HEADERS) end = bytes.length;
    const isLast = end === bytes.length;
    try {
      const part = { bytes: bytes.subarray(start, end), cut: isLast && cut };
      const member = await unpack('gzip', part, limit - length);
      pieces.push(member.bytes);
      length += member.bytes.length;
      if (isLast || member.cut) return { bytes: joined(pieces, length), cut: member.cut };
      start = end;
      end += MIN_MEMBER_BYTES - 1;
    } catch (error) {
      if (isLast) throw error;
      wrongHeaders++;
    }
  }
}

/** Position of the next header of a gzip member with deflate, or the length of the bytes. */
function memberHeader(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0x1f, from); at >= 0; at = bytes.indexOf(0x1f, at + 1)) {
    if (bytes[at + 1] === 0x8b && bytes[at + 2] === 0x08) return at;
  }
  return bytes.length;
}

/**
 * Bytes that are decompressed at a time. The browser keeps the whole result of one chunk, up to 1,032 times as much
 * (zlib.net/zlib_tech.html).
 */
const CHUNK_BYTES = 2048;

/** The bytes in small chunks, each when it is asked for. */
function inChunks(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, (at += CHUNK_BYTES)));
      else controller.close();
    },
  });
}

/** Decompresses in chunks and stops at the limit, so that a decompression bomb does not fill the memory. */
async function unpack(format: CompressionFormat, from: Step, limit: number): Promise<Step> {
  const reader = inChunks(from.bytes).pipeThrough(new DecompressionStream(format)).getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    while (length <= limit) {
      const { done, value } = await reader.read();
      if (done) return { bytes: joined(pieces, length), cut: from.cut };
      pieces.push(value);
      length += value.length;
    }
  } catch (error) {
    if (!from.cut || length === 0) throw error;
    return { bytes: joined(pieces, length), cut: true };
  }
  await reader.cancel();
  return { bytes: joined(pieces, length).subarray(0, limit), cut: true };
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
