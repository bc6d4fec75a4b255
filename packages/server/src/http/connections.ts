import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { PlainConnection } from './plain-connection.ts';
import type { PlainTraffic } from './plain-connection.ts';
import { normalAddress } from './client-address.ts';
import { ParsedConnection } from './parsed-connection.ts';

/** Files that the process needs for itself: databases, logs, connections of its own. */
const OWN_FILES = 128;

/** As many connections as are wanted, or as the system allows: each is an open file. */
export async function maxConnections(wanted: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return Math.max(1, Math.min(wanted, files - OWN_FILES));
}

/** How often connections are looked through that have become idle since. */
const SWEEP_MS = 25;

export interface ConnectionOptions extends Pick<
  PlainTraffic,
  'admit' | 'turns' | 'silenceMs' | 'keepAliveMs' | 'bodyMs'
> {
  /** Connections that may be open at once. */
  readonly maxConnections: number;
}

/** The reader of a connection. */
interface Reader {
  /** No request is in flight or arriving. */
  readonly isIdle: boolean;
  /** No whole request waits for its response, so that closing the connection loses nothing. */
  readonly canClose: boolean;
}

/**
 * The open connections of a listener. Each is read as plain requests first, and by the listener's parser from the first bytes on that
 * are not one.
 */
export class Connections {
  readonly #listener: Server;
  readonly #options: ConnectionOptions;
  /** By client address, so that the address with the most connections gives way first; the oldest connection first. */
  readonly #byAddress = new Map<string, Map<Socket, Reader>>();
  #count = 0;

  constructor(listener: Server, options: ConnectionOptions) {
    this.#listener = listener;
    this.#options = options;
    const parser = listener.listeners('connection');
    listener.removeAllListeners('connection');
    listener.on('connection', (socket: Socket) => this.#adopt(socket, parser));
  }

  get count(): number {
    return this.#count;
  }

  #adopt(socket: Socket, parser: ReturnType<Server['listeners']>): void {
    if (this.#count >= this.#options.maxConnections && !this.#closeOne()) {
      socket.destroy();
      return;
    }
    const address = normalAddress(socket.remoteAddress ?? '');
    const readers = this.#byAddress.get(address) ?? new Map<Socket, Reader>();
    this.#byAddress.set(address, readers);
    this.#count += 1;
    const { turns } = this.#options;
    const attach = (): void => {
      for (const listener of parser) Reflect.apply(listener, this.#listener, [socket]);
    };
    const handOver = (): void => void readers.set(socket, new ParsedConnection(socket, turns, attach));
    const isOpen = (): boolean => this.#listener.listening;
    readers.set(socket, new PlainConnection(socket, { ...this.#options, isOpen, handOver }));
    socket.once('close', () => {
      this.#count -= 1;
      readers.delete(socket);
      if (readers.size === 0) this.#byAddress.delete(address);
    });
  }

  /** Makes room for a new connection. False when every connection waits for a response. */
  #closeOne(): boolean {
    const addresses = [...this.#byAddress.values()].toSorted((a, b) => b.size - a.size);
    for (const readers of addresses) {
      for (const [socket, reader] of readers) {
        if (!reader.canClose) continue;
        readers.delete(socket);
        socket.destroy();
        return true;
      }
    }
    return false;
  }

  /**
   * Takes no new connection from now on, lets every request in flight end, closes the others, and cuts off what is left after `maxMs`.
   * Resolves when no connection is left.
   */
  async close(maxMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    this.#closeIdle();
    const sweep = setInterval(() => this.#closeIdle(), SWEEP_MS);
    const force = setTimeout(() => {
      for (const readers of this.#byAddress.values()) for (const socket of readers.keys()) socket.destroy();
    }, maxMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(force);
  }

  /** Node counts a connection that has not sent anything yet as busy (a browser opens some ahead): nobody waits for an answer there. */
  #closeIdle(): void {
    this.#listener.closeIdleConnections();
    for (const readers of this.#byAddress.values())
      for (const [socket, reader] of readers)
        if (socket.bytesRead === 0 || (reader instanceof PlainConnection && reader.isIdle)) socket.destroy();
  }
}
