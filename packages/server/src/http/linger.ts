import type { IncomingMessage } from 'node:http';

/** Limits of reading from a rejected sender before its connection is closed, in milliseconds and bytes. */
export const LINGER_MS = 2000;
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * Closing a connection while the sender still sends resets it, and the sender may never see the response. So the rest
 * is read and discarded for a moment, like nginx's `lingering_close`, before the connection ends.
 */
export function linger(request: IncomingMessage, done: () => void): void {
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    request.removeAllListeners('data').resume();
    done();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.once('end', finish).once('close', finish);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) finish();
  });
}
