import type { Socket } from 'node:net';

const signals = new WeakMap<Socket, AbortSignal>();

/** A signal that aborts when the connection closes, because no client waits for a response then. */
export function closedSignal(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const closed = new AbortController();
  const abort = (): void => closed.abort(new ConnectionClosed());
  if (socket.destroyed) abort();
  else socket.once('close', abort);
  signals.set(socket, closed.signal);
  return closed.signal;
}

/** The client closed its connection. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed';
}
