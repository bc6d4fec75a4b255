import type { IncomingMessage } from 'node:http';
import { parsedConnection } from './parsed-connection.ts';
import type { Reservation } from '../limits/memory-budget.ts';

/**
 * `too-large`: over the limit. `no-room`: other bodies use up the memory. `cut-off`: the connection closed before the
 * body was complete, so nothing is stored or answered.
 */
export type BodyResult = Buffer | null | 'too-large' | 'no-room' | 'cut-off';

/**
 * Reads a body of at most `limit` bytes and calls `done` once; `null` means no body. The reservation grows with the
 * body. The receiver of a buffer releases it; without a buffer it is released here. Uses callbacks, because a promise
 * per request is measurable here.
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

  // After the response Node does not report the connection's end to the request, so the connection does it.
  if (connection !== undefined) connection.onCutOff = () => finish('cut-off');
  // `on`, because `once` adds a wrapper and `finish` ignores later calls. Without an 'error' listener Node reports no
  // error for a request whose connection broke.
  request.on('data', onData);
  request.on('end', () => finish(parts.joined()));
  request.on('close', () => finish('cut-off'));
}

/** Smaller chunks are copied together, because a separate buffer costs about 100 bytes. */
const SMALL_CHUNK_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/** The chunks of a body, with little memory overhead even for chunks of one byte. */
class BodyParts {
  #parts: Buffer[] = [];
  /** The last part, if it collects small chunks. */
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
 * Aborts a request whose sender closes its sending side before the body is complete. The parser does so too, except
 * after a declined upgrade (seen on Node 26.10), where the request would wait for its timeout.
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
