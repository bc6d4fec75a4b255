import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { z } from 'zod';
import type { RequestRecord } from './stored-request.ts';

/** A batch of captures as two buffers. Moving them to the writer thread gives 10% more throughput than objects. */
export interface PackedCaptures {
  /** A UUID. PostgreSQL stores it with the batch, so that a repeated write is recognized. */
  readonly id: string;
  /** The ids of the batches that were joined into this one. */
  readonly joinedIds?: readonly string[];
  /** Endpoints to trim without a capture for them. */
  readonly overfull?: readonly number[];
  readonly count: number;
  /** `FIELDS` numbers per capture. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** All heads and bodies, concatenated. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const FIELDS = 5;
const METHOD_FIELD = 2;
const FIRST_CAPTURES = 128;
/** Large enough for the writer to return it without a copy (`largeBuffersOf`). */
const FIRST_BYTES = 128 * 1024;

/** One capture of a batch; `head` and `body` are views of the batch's bytes. */
export type UnpackedCapture = Pick<RequestRecord, 'endpointId' | 'receivedAt' | 'method' | 'head' | 'body'>;

/** Methods are encoded as indexes into Node's list, which all threads share. */
const METHOD_INDEXES: ReadonlyMap<string, number> = new Map(METHODS.map((method, index) => [method, index]));

/** Collects captures into a batch. */
export class CapturePacker {
  #numbers = new Float64Array(FIRST_CAPTURES * FIELDS);
  #bytes = Buffer.from(new ArrayBuffer(FIRST_BYTES));
  #used = 0;
  count = 0;

  /** Adds a capture. `head` is Latin-1 text; an empty body counts as no body. */
  add(endpointId: number, receivedAt: number, method: string, head: string, body: Buffer | null): void {
    const bodyLength = body?.length ?? 0;
    this.#reserve(head.length + bodyLength);
    const at = this.count * FIELDS;
    this.#numbers[at] = endpointId;
    this.#numbers[at + 1] = receivedAt;
    this.#numbers[at + METHOD_FIELD] = METHOD_INDEXES.get(method) ?? -1;
    this.#numbers[at + 3] = head.length;
    this.#numbers[at + 4] = bodyLength;
    this.#bytes.write(head, this.#used, 'latin1');
    body?.copy(this.#bytes, this.#used + head.length);
    this.#used += head.length + bodyLength;
    this.count += 1;
  }

  /** Returns the batch and starts an empty one. `recycled` is a buffer that the writer returned. */
  take(recycled?: ArrayBuffer): PackedCaptures {
    const packed = {
      id: randomUUID(),
      count: this.count,
      numbers: this.#numbers,
      bytes: new Uint8Array(this.#bytes.buffer, 0, this.#used),
    };
    this.#numbers = new Float64Array(FIRST_CAPTURES * FIELDS);
    this.#bytes = Buffer.from(
      recycled !== undefined && recycled.byteLength > 0 ? recycled : new ArrayBuffer(FIRST_BYTES),
    );
    this.#used = 0;
    this.count = 0;
    return packed;
  }

  #reserve(more: number): void {
    if ((this.count + 1) * FIELDS > this.#numbers.length)
      this.#numbers = new Float64Array(this.#numbers.buffer.transfer(this.#numbers.byteLength * 2));
    const needed = this.#used + more;
    if (needed > this.#bytes.length)
      this.#bytes = Buffer.from(this.#bytes.buffer.transfer(Math.max(needed, this.#bytes.length * 2)));
  }
}

/** Joins batches into one, in order, so that they are stored in one transaction. */
export function joinCaptures(batches: readonly PackedCaptures[]): PackedCaptures {
  const count = batches.reduce((sum, batch) => sum + batch.count, 0);
  const numbers = new Float64Array(count * FIELDS);
  const bytes = new Uint8Array(batches.reduce((sum, batch) => sum + batch.bytes.length, 0));
  let numbersAt = 0;
  let bytesAt = 0;
  for (const batch of batches) {
    numbers.set(batch.numbers.subarray(0, batch.count * FIELDS), numbersAt);
    bytes.set(batch.bytes, bytesAt);
    numbersAt += batch.count * FIELDS;
    bytesAt += batch.bytes.length;
  }
  return { id: randomUUID(), joinedIds: batches.map(({ id }) => id), count, numbers, bytes };
}

/** The id of no endpoint. */
const NO_ENDPOINT = 0;

/** Returns the batch with the stale captures assigned to no endpoint, so that they are not stored. */
export function withoutStale(
  batch: PackedCaptures,
  isStale: (endpointId: number, receivedAt: number) => boolean,
): PackedCaptures {
  const numbers = batch.numbers.slice(0, batch.count * FIELDS);
  for (let at = 0; at < numbers.length; at += FIELDS)
    if (isStale(numbers[at] ?? 0, numbers[at + 1] ?? 0)) numbers[at] = NO_ENDPOINT;
  return { ...batch, numbers };
}

/** A batch without captures, which trims endpoints. */
export function trimBatch(overfull: readonly number[]): PackedCaptures {
  return { id: randomUUID(), overfull, count: 0, numbers: new Float64Array(), bytes: new Uint8Array() };
}

/** Reads the captures of a batch, in order. */
export function* unpackCaptures(packed: PackedCaptures): Generator<UnpackedCapture> {
  const { numbers, bytes } = packed;
  let offset = bytes.byteOffset;
  for (let at = 0; at < packed.count * FIELDS; at += FIELDS) {
    const headLength = numbers[at + 3] ?? 0;
    const bodyLength = numbers[at + 4] ?? 0;
    const head = new Uint8Array(bytes.buffer, offset, headLength);
    const body = bodyLength === 0 ? null : new Uint8Array(bytes.buffer, offset + headLength, bodyLength);
    offset += headLength + bodyLength;
    yield {
      endpointId: numbers[at] ?? 0,
      receivedAt: numbers[at + 1] ?? 0,
      method: METHODS[numbers[at + METHOD_FIELD] ?? -1] ?? 'UNKNOWN',
      head,
      body,
    };
  }
}

const LOG_VERSION = 1;
const BYTES_PER_NUMBER = 8;

const headSchema = z.object({
  version: z.literal(LOG_VERSION),
  id: z.uuid(),
  count: z.int().positive(),
  /** The methods that the numbers refer to. They differ between versions of Node. */
  methods: z.array(z.string()),
});

/** Encodes a batch: the length of a JSON head, the head, the numbers, then heads and bodies of the captures. */
export function encodeBatch({ id, count, numbers, bytes }: PackedCaptures): Buffer {
  const head = Buffer.from(JSON.stringify({ version: LOG_VERSION, id, count, methods: METHODS }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, new Uint8Array(numbers.buffer, 0, count * FIELDS * BYTES_PER_NUMBER), bytes]);
}

/** Decodes a batch. @throws Error when this version can't read it */
export function decodeBatch(encoded: Uint8Array): PackedCaptures {
  try {
    return decode(Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength));
  } catch (error) {
    throw new Error('A batch of the overflow log could not be read.', { cause: error });
  }
}

function decode(encoded: Buffer): PackedCaptures {
  const headEnd = 4 + encoded.readUInt32LE();
  const { id, count, methods } = headSchema.parse(JSON.parse(encoded.toString('utf8', 4, headEnd)));
  const numbersEnd = headEnd + count * FIELDS * BYTES_PER_NUMBER;
  if (numbersEnd > encoded.length) throw new RangeError('The batch is shorter than its head declares.');
  // A copy, because a Float64Array must be aligned.
  const numbers = new Float64Array(count * FIELDS);
  encoded.copy(Buffer.from(numbers.buffer), 0, headEnd, numbersEnd);
  for (let at = METHOD_FIELD; at < numbers.length; at += FIELDS)
    numbers[at] = METHODS.indexOf(methods[numbers[at] ?? -1] ?? '');
  const bytes = new Uint8Array(encoded.length - numbersEnd);
  encoded.copy(bytes, 0, numbersEnd);
  return { id, count, numbers, bytes };
}
