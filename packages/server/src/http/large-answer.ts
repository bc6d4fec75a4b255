import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { storedBytes } from '../database/stored-request.ts';
import type { RequestRecord } from '../database/stored-request.ts';
import { LoopTurns } from './loop-turns.ts';
import { StringDecoder } from 'node:string_decoder';

/**
 * Bytes per piece of text. A multiple of 3, so that pieces of base64 join. Control characters grow to six characters,
 * and then a piece takes about a millisecond.
 */
const PIECE_BYTES = 24 * 1024;
/** Maximum growth of a byte of text in JSON: a control character takes six. */
export const MAX_JSON_GROWTH = 6;
/** Characters per write. */
const SLICE_CHARACTERS = 16 * 1024;

/** A text that stays bytes until it is written, as UTF-8 or as base64. */
export class LongText {
  readonly #bytes: Buffer;
  readonly #encoding: 'utf8' | 'base64';

  constructor(bytes: Buffer, encoding: 'utf8' | 'base64') {
    this.#bytes = bytes;
    this.#encoding = encoding;
  }

  /** The output of `JSON.stringify` for the text, in pieces. Never splits a character. */
  *json(): Generator<string> {
    const decoder = new StringDecoder(this.#encoding);
    yield '"';
    for (let at = 0; at < this.#bytes.length; at += PIECE_BYTES)
      yield escaped(decoder.write(this.#bytes.subarray(at, at + PIECE_BYTES)));
    yield `${escaped(decoder.end())}"`;
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The output of `JSON.stringify` for an object whose members may be long texts, generated on demand. */
export function* objectJson(value: object): Generator<string> {
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (member instanceof LongText) yield* member.json();
    else yield JSON.stringify(member);
  }
  yield before === '{' ? '{}' : '}';
}

/** The output of `JSON.stringify` for the list of presented items. Each item is presented on demand. */
export function* listJson<T>(items: readonly T[], present: (item: T) => object): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before + JSON.stringify(present(item));
    before = ',';
  }
  yield items.length === 0 ? '[]' : ']';
}

/** Joins pieces until they are worth a write. Omits empty ones. */
export function* inSlices(pieces: Iterable<string>): Generator<string> {
  let slice = '';
  for (const piece of pieces) {
    slice += piece;
    if (slice.length < SLICE_CHARACTERS) continue;
    yield slice;
    slice = '';
  }
  if (slice !== '') yield slice;
}

/** The number of bytes of truncated UTF-8 text that form whole characters. */
export function utf8Boundary(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length <= bytes.length ? bytes.length : start;
}

/** A body as JSON has it. Text if it is valid UTF-8, without a character that was cut off, else all bytes as base64. */
export function textOrBase64(body: Buffer, isCut: boolean): { bytes: Buffer; encoding: 'utf8' | 'base64' } {
  const whole = isCut ? body.subarray(0, utf8Boundary(body)) : body;
  return isUtf8(whole) ? { bytes: whole, encoding: 'utf8' } : { bytes: body, encoding: 'base64' };
}

/** Up to this many stored bytes a response is generated at once, which is the usual case. */
export const SMALL_ANSWER_BYTES = 256 * 1024;
/** Bytes per write to a connection. */
const WRITE_BYTES = 64 * 1024;
/** Milliseconds after which a client is cut off that reads nothing of its response. */
const MAX_SILENCE_MS = 30_000;

/** Bytes, or pieces of text; asynchronous pieces are read from storage while the response is sent. */
type Content = Uint8Array | Iterable<string> | AsyncIterable<string>;

/** A response with many stored bytes: the bytes themselves, or JSON that is generated while it is sent. */
export class LargeAnswer {
  readonly rawBytes: number;
  readonly content: Content;

  constructor(rawBytes: number, content: Content) {
    this.rawBytes = rawBytes;
    this.content = content;
  }
}

/** A JSON array of presented records. */
export function listAnswer<T extends RequestRecord>(
  records: readonly T[],
  present: (record: T) => object,
): LargeAnswer {
  return new LargeAnswer(rawBytesOf(records), listJson(records, present));
}

/** One object, whose long texts have `rawBytes` stored bytes. */
export function objectAnswer(rawBytes: number, value: object): LargeAnswer {
  return new LargeAnswer(rawBytes, objectJson(value));
}

export function rawBytesOf(records: readonly RequestRecord[]): number {
  return records.reduce((sum, record) => sum + storedBytes(record), 0);
}

/** Generates one slice per turn of the event loop, so that captures go first. */
const turns = new LoopTurns();

/** Sends a response no faster than the client reads it. Cuts the client off after `maxSilenceMs` without progress. */
export function sendLarge(
  reply: FastifyReply,
  { rawBytes, content }: LargeAnswer,
  maxSilenceMs = MAX_SILENCE_MS,
): FastifyReply {
  const onRead = cutOffWhenSilent(reply, maxSilenceMs);
  if (Symbol.asyncIterator in content) return reply.send(flowing(reply, content, onRead));
  const isShort = content instanceof Uint8Array || rawBytes <= SMALL_ANSWER_BYTES;
  if (!isShort) return reply.send(flowing(reply, inSlices(content), onRead));
  const bytes = content instanceof Uint8Array ? content : Buffer.from([...content].join(''));
  if (bytes.length <= WRITE_BYTES) return reply.send(bytes);
  return reply.header('content-length', bytes.length).send(flowing(reply, writes(bytes), onRead));
}

function* writes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += WRITE_BYTES) yield bytes.subarray(at, at + WRITE_BYTES);
}

function flowing(
  { request, raw }: FastifyReply,
  slices: Iterable<string | Uint8Array> | AsyncIterable<string>,
  onRead: () => void,
): Readable {
  async function* flow(): AsyncGenerator<string | Uint8Array> {
    for await (const slice of slices) {
      onRead();
      yield slice;
      await new Promise<void>((resolve) => turns.run(request.raw.socket, resolve));
    }
    onRead();
  }
  // A HEAD response has no body. Each slice waits for the client.
  const body = Readable.from(request.method === 'HEAD' ? [] : flow(), { objectMode: false, highWaterMark: 1 });
  return body.once('error', () => raw.headersSent && breakOff(request));
}

/** Returns a function to call whenever the client has read something. */
function cutOffWhenSilent(reply: FastifyReply, maxSilenceMs: number): () => void {
  const timer = setTimeout(() => breakOff(reply.request), maxSilenceMs).unref();
  reply.raw.once('close', () => clearTimeout(timer));
  return () => void timer.refresh();
}

/** Ends an incomplete response. In HTTP/1.0 it has no length, so without a reset its client takes it for a whole one. */
function breakOff({ raw }: FastifyRequest): void {
  raw.socket.resetAndDestroy();
}
