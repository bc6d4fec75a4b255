import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { BodyBuffer } from './body-buffer.ts';
import type { Reservation } from '../limits/memory-budget.ts';
import { parsedConnection } from './parsed-connection.ts';

/**
 * `too-large`: over the limit. `too-many-parts`: in tiny chunks. `no-memory`: used up by other bodies. `cut-off`:
 * incomplete, so nothing is stored.
 */
export type BodyResult = Buffer | null | 'too-large' | 'too-many-parts' | 'no-memory' | 'cut-off';

/**
 * Reads a body within the limits and calls `done` once; `null` means no body. `parts`: maximum number of chunks or reads.
 * The reservation grows with the body. The receiver of a buffer releases it. Before a text as the result, this function
 * releases it. Callbacks cost less than a promise per request.
 */
export function readBody(
  request: IncomingMessage,
  { bytes: limit, parts: maxParts = Infinity }: { readonly bytes: number; readonly parts?: number },
  reservation: Pick<Reservation, 'grow' | 'release'>,
  done: (result: BodyResult) => void,
): void {
  const body = new BodyBuffer(limit);
  let parts = 0;
  let finished = false;
  const connection = parsedConnection(request.socket);

  function finish(result: BodyResult): void {
    if (finished) return;
    finished = true;
    if (connection !== undefined) connection.onCutOff = undefined;
    if (typeof result === 'string') {
      request.off('data', onData);
      reservation.release();
      body.clear();
      request.resume();
    }
    done(result);
  }

  function onData(chunk: Buffer): void {
    parts += 1;
    if (body.size + chunk.length > limit) return finish('too-large');
    if (parts > maxParts) return finish('too-many-parts');
    if (!reservation.grow(chunk.length)) return finish('no-memory');
    body.add(chunk);
  }

  // After the response Node does not report the connection's end to the request, so the connection does it.
  if (connection !== undefined) connection.onCutOff = () => finish('cut-off');
  // `on`, because `once` adds a wrapper and `finish` ignores later calls. Without an 'error' listener Node reports no
  // error for a request whose connection broke.
  request.on('data', onData);
  request.on('end', () => finish(body.take()));
  request.on('close', () => finish('cut-off'));
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

/** A rejected sender is read for this long, for this long after its last bytes, and up to this many bytes. */
const LINGER_MS = 30_000;
const LINGER_SILENCE_MS = 2000;
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * Closing a connection while the sender still sends resets it, and the sender may never see the response. So the rest
 * is read and discarded, like nginx's `lingering_close`, before the connection ends. Counts what arrives at the socket,
 * because the connection may discard it before it reaches the request.
 */
export function linger(sender: Readable, done: () => void, socket = sender): void {
  const until = performance.now() + LINGER_MS;
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    socket.off('data', onRead);
    done();
  };
  const onRead = (bytes: Buffer): void => {
    left -= bytes.length;
    if (left <= 0 || performance.now() >= until) finish();
    else timer.refresh();
  };
  const timer = setTimeout(finish, LINGER_SILENCE_MS);
  sender.once('end', finish).once('close', finish).resume();
  // Before the connection frees the bytes, which sets their length to 0.
  socket.prependListener('data', onRead);
}
