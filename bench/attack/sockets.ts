import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The server under attack, and the attacker's ordinary account. */
export interface AttackTarget {
  readonly port: number;
  /** Of an endpoint of the attacker. */
  readonly uid: string;
  /** `/h/{uid}` */
  readonly capturePath: string;
  /** Session cookie of the attacker. */
  readonly cookie: string;
  /** A file of the web app. */
  readonly staticPath: string;
}

/** Attackers come from another address than the witness, so that limits per address tell them apart. */
const ATTACKER_ADDRESS = '127.0.0.3';

/** A different loopback address for each number: an attack from many machines. */
export function addressOf(nth: number): string {
  return `127.1.${(nth >> 8) & 255}.${nth & 255 || 1}`;
}

export interface OpenOptions {
  /** Counts the responses on the connection. Without it nothing is read. */
  readonly answers?: AnswerCount;
  readonly localAddress?: string | undefined;
}

/** Opens a connection. Resolves with `undefined` if the server or the system rejects it. */
export function open(
  { port }: AttackTarget,
  { answers, localAddress = ATTACKER_ADDRESS }: OpenOptions = {},
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    answers?.follow(socket);
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(undefined));
  });
}

/** Runs `each` for 0 to `count - 1`, at most `atOnce` of them at a time. */
export async function inParallel(count: number, atOnce: number, each: (nth: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await each(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}

/** Resolves when the socket is closed, or after `maxMs`. */
export function closed(socket: Socket, maxMs: number): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Writes one chunk and waits until the kernel has taken it. False when the connection is closed. */
export function write(socket: Socket, bytes: Buffer | string): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed || socket.writableEnded) return resolve(false);
    const onClose = (): void => resolve(false);
    socket.once('close', onClose);
    socket.write(bytes, (error) => {
      socket.off('close', onClose);
      resolve(!error);
    });
  });
}

/** Writes as `write`, and gives up at a time of `performance.now()`. */
export const writeUntil = (socket: Socket, bytes: Buffer | string, until: number): Promise<boolean> =>
  Promise.race([write(socket, bytes), sleep(until - performance.now(), false, { ref: false })]);

/** Sends bytes on a new connection, and waits until the server closes it, for `maxMs` at most. */
export async function sendAlone(
  target: AttackTarget,
  bytes: readonly (Buffer | string)[],
  { maxMs, ...options }: OpenOptions & { readonly maxMs: number },
): Promise<void> {
  const socket = await open(target, options);
  if (socket === undefined) return;
  for (const part of bytes) await write(socket, part);
  await closed(socket, maxMs);
  socket.destroy();
}

const STATUS_LINE = Buffer.from('HTTP/1.1 ');

/** Counts the responses on a socket by status. */
export class AnswerCount {
  readonly #byStatus = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Reads everything that the socket receives. Misses a response whose status line is split between two reads. */
  follow(socket: Socket): void {
    socket.on('data', (bytes: Buffer) => this.count(bytes));
  }

  count(bytes: Buffer): void {
    for (let at = bytes.indexOf(STATUS_LINE); at >= 0; at = bytes.indexOf(STATUS_LINE, at + 1)) {
      const status = bytes.toString('latin1', at + STATUS_LINE.length, at + STATUS_LINE.length + 3);
      this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
      this.#total += 1;
    }
  }

  /** For example `200 × 31, 503 × 4`. */
  toString(): string {
    const parts = [...this.#byStatus].toSorted().map(([status, count]) => `${status} × ${count.toLocaleString('en')}`);
    return parts.length === 0 ? 'no answers' : parts.join(', ');
  }
}
