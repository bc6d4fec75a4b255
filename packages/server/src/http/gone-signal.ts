import type { Socket } from 'node:net';

const signals = new WeakMap<Socket, AbortSignal>();

/** A signal that aborts when the connection closes, because no client waits for a response then. */
export function goneSignal(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const gone = new AbortController();
  const abort = (): void => gone.abort(new ConnectionGone());
  if (socket.destroyed) abort();
  else socket.once('close', abort);
  signals.set(socket, gone.signal);
  return gone.signal;
}

/** The client closed its connection. */
export class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone';
}
