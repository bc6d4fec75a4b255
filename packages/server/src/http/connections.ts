import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { ListenOptions, Server as SocketServer, Socket } from 'node:net';
import process from 'node:process';
import { portOf } from './listener.ts';
import { PlainConnection } from './plain-connection.ts';
import type { PlainConnectionOptions } from './plain-connection.ts';
import { normalAddress } from './client-address.ts';
import { ParsedConnection } from './parsed-connection.ts';

/** File descriptors that the process needs for databases, logs and outgoing connections. */
const OWN_FILES = 128;

/** The wanted number of connections, or as many as the limit of open files allows. */
export async function maxConnections(wanted: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return Math.max(1, Math.min(wanted, files - OWN_FILES));
}

/** Length of the queue of a listening socket. Node's default of 511 fills up during one long turn of the event loop. */
const BACKLOG = 4096;
/**
 * Listening sockets on the same port. libuv accepts one connection of each per turn of the event loop, and under a
 * flood a turn takes several milliseconds. The kernel distributes connections over the sockets, but not on every
 * system.
 */
const LISTENING_SOCKETS = process.platform === 'linux' ? 16 : 1;

/** Interval of the search for idle connections, in milliseconds. */
const SWEEP_MS = 25;
/** Maximum bytes that connections hold unread. A sender that sends ahead and reads no responses has up to 128 KiB. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
const UNREAD_CHECK_MS = 250;

export interface ConnectionOptions extends Pick<
  PlainConnectionOptions,
  'admit' | 'turns' | 'silenceMs' | 'keepAliveMs' | 'bodyMs'
> {
  readonly maxConnections: number;
  readonly maxUnreadBytes?: number;
  /** When it aborts, each connection ends with its next response. */
  readonly stopping: AbortSignal;
}

interface Reader {
  /** No complete request waits for its response, so that closing the connection loses nothing. */
  readonly canClose: boolean;
  /** Memory of the bytes that were read from the network and not handled yet. */
  readonly unreadBytes: number;
}

/** Each connection starts with the plain reader, and switches to Node's parser at bytes that it can't read. */
export class Connections {
  readonly #listener: Server;
  readonly #options: ConnectionOptions;
  /** The listening sockets besides the listener's own. */
  readonly #others: SocketServer[] = [];
  /** Keeps other servers from sharing the port. */
  readonly #claim = createServer().unref();
  /** By client address, oldest connection first. The address with the most connections loses one first. */
  readonly #byAddress = new Map<string, Map<Socket, Reader>>();
  readonly #unreadCheck: NodeJS.Timeout;
  #count = 0;

  constructor(listener: Server, options: ConnectionOptions) {
    this.#listener = listener;
    this.#options = options;
    const parser = listener.listeners('connection');
    listener.removeAllListeners('connection');
    listener.on('connection', (socket: Socket) => this.#adopt(socket, parser));
    options.stopping.addEventListener('abort', () => this.#endWithResponses());
    this.#unreadCheck = setInterval(() => this.#limitUnread(), UNREAD_CHECK_MS).unref();
  }

  /** Listens. @throws what `net.Server.listen` emits, such as EADDRINUSE */
  async listen({ port, host }: { readonly port: number; readonly host: string }): Promise<void> {
    const reusePort = LISTENING_SOCKETS > 1;
    if (reusePort && port !== 0) {
      // The error of a path has no port, and the operator is told which one is in use.
      await listening(this.#claim, { path: claimPath(port, host) }).catch((error: unknown) => {
        throw error instanceof Error ? Object.assign(error, { port }) : error;
      });
      await expectFreePort(port, host).catch((error: unknown) => {
        this.#claim.close();
        throw error;
      });
    }
    await listening(this.#listener, { port, host, backlog: BACKLOG, reusePort });
    while (this.#others.length < LISTENING_SOCKETS - 1) {
      const pass = (socket: Socket): void => void this.#listener.emit('connection', socket);
      // The same options as an HTTP server's.
      const other = createServer({ allowHalfOpen: true, noDelay: true }, pass);
      this.#others.push(other);
      await listening(other, { port: portOf(this.#listener), host, backlog: BACKLOG, reusePort });
    }
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
    const handOver: PlainConnectionOptions['handOver'] = (_socket, readBuffer) =>
      void readers.set(socket, new ParsedConnection(socket, turns, attach, readBuffer));
    const isOpen = (): boolean => this.#listener.listening && !this.#options.stopping.aborted;
    readers.set(socket, new PlainConnection(socket, { ...this.#options, isOpen, handOver }));
    socket.once('close', () => {
      this.#count -= 1;
      readers.delete(socket);
      if (readers.size === 0) this.#byAddress.delete(address);
    });
  }

  /** `isOpen` and the listener do the same for requests whose head arrives later. */
  #endWithResponses(): void {
    for (const readers of this.#byAddress.values())
      for (const reader of readers.values()) if (reader instanceof ParsedConnection) reader.endWithResponse();
  }

  /** Closes a connection to make room for a new one. False when every connection waits for a response. */
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

  /** Closes connections that hold unread bytes, until all hold few enough: first those of the address with the most. */
  #limitUnread(): void {
    const { maxUnreadBytes = MAX_UNREAD_BYTES } = this.#options;
    const addresses = [...this.#byAddress.values()].map((readers) => {
      const holders = [...readers].filter(([, { unreadBytes }]) => unreadBytes > 0);
      return { holders, bytes: holders.reduce((sum, [, { unreadBytes }]) => sum + unreadBytes, 0) };
    });
    let excess = addresses.reduce((sum, { bytes }) => sum + bytes, -maxUnreadBytes);
    for (const { holders } of addresses.toSorted((a, b) => b.bytes - a.bytes)) {
      for (const [socket, { unreadBytes }] of holders) {
        if (excess <= 0) return;
        excess -= unreadBytes;
        socket.destroy();
      }
    }
  }

  /**
   * Accepts no more connections, lets requests in flight finish, closes idle connections, and cuts off the rest after
   * `maxMs`. Resolves when none is left.
   */
  async close(maxMs: number): Promise<void> {
    const servers = [this.#listener, ...this.#others, this.#claim];
    const closed = Promise.all(servers.map((each) => new Promise((resolve) => each.close(resolve))));
    this.#closeIdle();
    const sweep = setInterval(() => this.#closeIdle(), SWEEP_MS);
    const force = setTimeout(() => {
      this.#closeIdle();
      // A response to HTTP/1.0 may have no length. With an ordinary end, its client takes the part that it has for all of it.
      for (const readers of this.#byAddress.values()) for (const socket of readers.keys()) socket.resetAndDestroy();
    }, maxMs);
    await closed;
    clearInterval(sweep);
    clearInterval(this.#unreadCheck);
    clearTimeout(force);
  }

  /** Node counts a connection without any data as busy. Browsers open some ahead, and nothing waits on them. */
  #closeIdle(): void {
    this.#listener.closeIdleConnections();
    for (const readers of this.#byAddress.values())
      for (const [socket, reader] of readers)
        if (socket.bytesRead === 0 || (reader instanceof PlainConnection && reader.isIdle)) socket.destroy();
  }
}

async function listening(server: SocketServer, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

/** An abstract socket of Linux, which ends with its process. Two servers that start at once would share the port. */
function claimPath(port: number, host: string): string {
  return `\0creel ${host} ${port}`;
}

/** Listens for a moment without sharing the port, because another program may share it. @throws EADDRINUSE */
async function expectFreePort(port: number, host: string): Promise<void> {
  const probe = createServer();
  await listening(probe, { port, host });
  probe.close();
  await once(probe, 'close');
}
