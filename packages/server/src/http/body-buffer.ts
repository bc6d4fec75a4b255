import type { Readable } from 'node:stream';

const KIB = 1024;

/** Smaller allocations fragment glibc's heap, which then returns less of it (docs/decisions/0015-memory-budgets.md). */
const WHOLE_BYTES = 128 * KIB;
/** Small bodies share blocks of this size. */
const BLOCK_BYTES = 512 * KIB;
/** A body that grows beyond this size gets at least `WHOLE_BYTES`. New pages that are not used take no memory. */
const SMALL_BYTES = 16 * KIB;
/** A body that grows beyond its memory gets this many times as much. */
const GROWTH = 4;

let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
let blockUsed = 0;

/**
 * Copies a complete body of up to 128 KiB, from `from` to `to`, so that the read buffer of its socket is free soon. Not
 * for incomplete bodies, which could keep their blocks for a minute.
 */
export function copyBody(bytes: Buffer, from: number, to: number): Buffer {
  if (to - from > BLOCK_BYTES - blockUsed) {
    block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    blockUsed = 0;
  }
  const start = blockUsed;
  blockUsed += bytes.copy(block, start, from, to);
  return block.subarray(start, blockUsed);
}

/** Smaller memory is left to V8. Freeing it at once takes a fortieth of the time to read and store a capture. */
const MIN_FREED_BYTES = 4 * KIB;

/**
 * Frees memory that nothing refers to. V8 frees it at its next collection, which comes late in a flood of large bodies,
 * because they are few objects.
 */
export function freeBuffer(buffer: ArrayBufferLike): void {
  // The length of a detached buffer is 0.
  if (buffer.byteLength >= MIN_FREED_BYTES && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Frees bytes that are not read again, unless they share their memory with others, as small Buffers do. */
export function freeBytes(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) freeBuffer(bytes.buffer);
}

/** Memory of what a socket holds unread. A few bytes of its last read keep all of `readBuffer`. */
export function unreadBytesOf({ readableLength }: Readable, readBuffer: ArrayBufferLike | undefined): number {
  return readableLength === 0 ? 0 : readableLength + (readBuffer?.byteLength ?? 0);
}

/**
 * Frees what a closed socket holds unread. Reads one chunk at a time, because a paused stream would join all of them.
 * Call it when 'close' is emitted: then nothing else gets the chunks.
 */
export function freeUnread(socket: Readable, readBuffer?: ArrayBufferLike): void {
  socket.resume();
  for (let chunk: unknown = socket.read(); chunk instanceof Uint8Array; chunk = socket.read()) freeBytes(chunk);
  if (readBuffer !== undefined) freeBuffer(readBuffer);
}

/** Collects copies of a body's parts. Read buffers are free at once, and a chunk of one byte takes no object. */
export class BodyBuffer {
  readonly #maxBytes: number;
  #bytes: Buffer | undefined;
  #size = 0;

  /** `maxBytes`: the declared length, or the limit. The sum of all parts must not exceed it. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#size;
  }

  add(part: Buffer): void {
    const size = this.#size + part.length;
    const bytes = this.#bytes !== undefined && size <= this.#bytes.length ? this.#bytes : this.#grow(size);
    part.copy(bytes, this.#size);
    this.#size = size;
  }

  /** The whole body; `null` when there was none. Call it once. */
  take(): Buffer | null {
    const body = this.#bytes?.subarray(0, this.#size) ?? null;
    if (body === null || body.length > WHOLE_BYTES) return body;
    const copy = copyBody(body, 0, body.length);
    this.clear();
    return copy;
  }

  clear(): void {
    if (this.#bytes !== undefined) freeBuffer(this.#bytes.buffer);
    this.#bytes = undefined;
    this.#size = 0;
  }

  #grow(size: number): Buffer {
    const bytes = this.#bytes;
    const wanted = Math.min(this.#maxBytes, Math.max(size, (bytes?.length ?? 0) * GROWTH));
    const larger = Buffer.allocUnsafeSlow(size > SMALL_BYTES ? Math.max(WHOLE_BYTES, wanted) : wanted);
    bytes?.copy(larger, 0, 0, this.#size);
    if (bytes !== undefined) freeBuffer(bytes.buffer);
    this.#bytes = larger;
    return larger;
  }
}
