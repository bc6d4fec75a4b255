import type { IncomingMessage } from 'node:http';
import type { ByteBudget } from './byte-budget.ts';

/**
 * `too-large`: over the limit. `no-room`: other bodies fill the memory that there is. `cut-off`: the sender went away before its body
 * ended; there is nobody to answer and nothing to store.
 */
export type BodyResult = Buffer | null | 'too-large' | 'no-room' | 'cut-off';

/**
 * Reads a body of at most `limit` bytes and calls `done` once; `null` is no body. The bytes stay counted in `budget`: the receiver of
 * a buffer gives them back. Callbacks, because a promise per request is measurable here.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  budget: Pick<ByteBudget, 'take' | 'give'>,
  done: (result: BodyResult) => void,
): void {
  let first: Buffer | null = null;
  let more: Buffer[] | undefined;
  let size = 0;
  let finished = false;

  function finish(result: BodyResult): void {
    if (finished) return;
    finished = true;
    if (typeof result === 'string') {
      request.off('data', onData);
      budget.give(size);
      first = null;
      more = undefined;
      request.resume();
    }
    done(result);
  }

  function onData(chunk: Buffer): void {
    if (size + chunk.length > limit) return finish('too-large');
    if (!budget.take(chunk.length)) return finish('no-room');
    size += chunk.length;
    if (first === null) first = chunk;
    else (more ??= [first]).push(chunk);
  }

  // `on`, not `once`, which wraps: `finish` counts the first call only. A broken connection closes; without an 'error' listener Node
  // raises no error for it.
  request.on('data', onData);
  request.on('end', () => finish(more === undefined ? first : Buffer.concat(more, size)));
  request.on('close', () => finish('cut-off'));
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
