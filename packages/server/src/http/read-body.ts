import type { IncomingMessage } from 'node:http';
import { parsedConnection } from './parsed-connection.ts';
import type { Reservation } from '../limits/memory-budget.ts';

/**
 * `too-large`: over the limit. `no-room`: other bodies fill the memory that there is. `cut-off`: the sender went away before its body
 * ended; there is nobody to answer and nothing to store.
 */
export type BodyResult = Buffer | null | 'too-large' | 'no-room' | 'cut-off';

/**
 * Reads a body of at most `limit` bytes and calls `done` once; `null` is no body. The reservation grows with the body. The receiver of
 * a buffer releases it; it is released here when there is none. Callbacks, because a promise per request is measurable here.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  reservation: Pick<Reservation, 'grow' | 'release'>,
  done: (result: BodyResult) => void,
): void {
  const parts = new BodyParts();
  let finished = false;
  const connection = parsedConnection(request.socket);

  function finish(result: BodyResult): void {
    if (finished) return;
    finished = true;
    if (connection !== undefined) connection.onCutOff = undefined;
    if (typeof result === 'string') {
      request.off('data', onData);
      reservation.release();
      parts.clear();
      request.resume();
    }
    done(result);
  }

  function onData(chunk: Buffer): void {
    if (parts.size + chunk.length > limit) return finish('too-large');
    if (!reservation.grow(chunk.length)) return finish('no-room');
    parts.add(chunk);
  }

  // Node does not tell a request of its connection's end once it was answered, so the connection itself does.
  if (connection !== undefined) connection.onCutOff = () => finish('cut-off');
  // `on`, not `once`, which wraps: `finish` counts the first call only. Without an 'error' listener Node raises no error for a request
  // whose connection broke.
  request.on('data', onData);
  request.on('end', () => finish(parts.joined()));
  request.on('close', () => finish('cut-off'));
}

/** Up to this size a chunk is copied to its predecessors: a buffer of its own costs some 100 bytes, however few it holds. */
const SMALL_CHUNK_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/** The chunks of a body, in about as much memory as they have bytes, even if they have one byte each. */
class BodyParts {
  #parts: Buffer[] = [];
  /** The last part, when small chunks are gathered there. */
  #block: Buffer | undefined;
  #blockUsed = 0;
  size = 0;

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (chunk.length > SMALL_CHUNK_BYTES || this.size === chunk.length) {
      this.#closeBlock();
      this.#parts.push(chunk);
      return;
    }
    if (this.#block !== undefined && this.#blockUsed + chunk.length > this.#block.length) this.#closeBlock();
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    chunk.copy(this.#block, this.#blockUsed);
    this.#blockUsed += chunk.length;
  }

  clear(): void {
    this.#parts = [];
    this.#block = undefined;
  }

  /** The whole body; `null` when there was none. */
  joined(): Buffer | null {
    this.#closeBlock();
    const [first, ...more] = this.#parts;
    if (first === undefined) return null;
    return more.length === 0 ? first : Buffer.concat(this.#parts, this.size);
  }

  #closeBlock(): void {
    if (this.#block !== undefined) this.#parts.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = undefined;
    this.#blockUsed = 0;
  }
}

/**
 * Cuts a request off when its sender says "no more bytes" before the body is whole. The parser does so itself, but not where an upgrade
 * was asked for and declined: seen on Node 26.10, where such a request waits for its time-out.
 */
export function endWithConnection(request: IncomingMessage): void {
  const { socket } = request;
  const onEnd = (): void => {
    if (!request.complete) request.destroy();
  };
  if (socket.readableEnded) return onEnd();
  socket.once('end', onEnd);
  request.once('close', () => socket.off('end', onEnd));
}
