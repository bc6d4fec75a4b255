import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { PlainConnections } from './capture/plain-connection.ts';

/** How often connections are looked through that have become idle since. */
const SWEEP_MS = 25;

/** The open connections of a listener, so that it can be closed in good order. */
export class Connections {
  readonly #listener: Server;
  readonly #plain: PlainConnections;
  readonly #open = new Set<Socket>();

  constructor(listener: Server, plain: PlainConnections) {
    this.#listener = listener;
    this.#plain = plain;
    listener.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /**
   * Takes no new connection from now on, lets every request that is under way come to its end, hangs up where there is none, and cuts
   * off what is left after `mostMs`. Resolves when no connection is left.
   */
  async close(mostMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    this.#hangUpIdle();
    const sweep = setInterval(() => this.#hangUpIdle(), SWEEP_MS);
    const force = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, mostMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(force);
  }

  /** Node counts a connection that has not said anything yet as busy (a browser opens some ahead): nobody waits for an answer there. */
  #hangUpIdle(): void {
    this.#listener.closeIdleConnections();
    this.#plain.closeIdle();
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }
}
