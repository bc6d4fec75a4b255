import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { RequestRecord } from '../database/store.ts';
import { storedBytes } from '../database/request-head.ts';
import { LoopTurns } from './loop-turns.ts';
import { inSlices, listJson, objectJson } from './json-pieces.ts';

/** Up to this many stored bytes a response is generated at once, which is the usual case. */
export const SMALL_ANSWER_BYTES = 256 * 1024;
/** Bytes per write to a connection. */
const WRITE_BYTES = 64 * 1024;
/** A client that reads nothing of its response for this long is cut off. */
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

/** A list of presented records. */
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

/** Bytes of records that a response holds. */
export function rawBytesOf(records: readonly RequestRecord[]): number {
  return records.reduce((sum, record) => sum + storedBytes(record), 0);
}

/** Generates one slice per turn of the event loop, so that captures go first. */
const turns = new LoopTurns();

/** Sends a response no faster than the client reads it. Cuts the client off after `maxSilenceMs` without progress. */
export function sendLarge(
  request: FastifyRequest,
  reply: FastifyReply,
  { rawBytes, content }: LargeAnswer,
  maxSilenceMs = MAX_SILENCE_MS,
): FastifyReply {
  const taken = cutOffWhenSilent(request, reply, maxSilenceMs);
  if (Symbol.asyncIterator in content) return reply.send(flowing(request, content, taken));
  const isShort = content instanceof Uint8Array || rawBytes <= SMALL_ANSWER_BYTES;
  if (!isShort) return reply.send(flowing(request, inSlices(content), taken));
  const bytes = content instanceof Uint8Array ? content : Buffer.from([...content].join(''));
  if (bytes.length <= WRITE_BYTES) return reply.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  return reply.header('content-length', bytes.length).send(flowing(request, writes(bytes), taken));
}

function* writes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += WRITE_BYTES) yield bytes.subarray(at, at + WRITE_BYTES);
}

function flowing(
  request: FastifyRequest,
  slices: Iterable<string | Uint8Array> | AsyncIterable<string>,
  taken: () => void,
): Readable {
  async function* flow(): AsyncGenerator<string | Uint8Array> {
    for await (const slice of slices) {
      taken();
      yield slice;
      await new Promise<void>((resolve) => turns.run(request.raw.socket, resolve));
    }
    taken();
  }
  // A HEAD response has no body. Each slice waits for the client.
  return Readable.from(request.method === 'HEAD' ? [] : flow(), { objectMode: false, highWaterMark: 1 });
}

/** Returns a function to call whenever the client has read something. */
function cutOffWhenSilent(request: FastifyRequest, reply: FastifyReply, maxSilenceMs: number): () => void {
  const { socket } = request.raw;
  const response = reply.raw;
  const timer = setTimeout(() => {
    // Without a socket of its own this response waits behind another one, which has its own timer.
    if (response.socket === null && !socket.destroyed) timer.refresh();
    else socket.destroy();
  }, maxSilenceMs).unref();
  response.once('close', () => clearTimeout(timer));
  return () => void timer.refresh();
}
