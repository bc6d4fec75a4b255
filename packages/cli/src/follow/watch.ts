import { ApiError, LIVE_CLOSE_SIGNED_OUT, PROBLEMS, listenLive } from '@creel/contract';
import type { Endpoint, LiveMessage, LiveState } from '@creel/contract';
import type { WebSocket } from 'ws';
import { CliProblem } from '../cli-problem.ts';
import type { Connection } from '../connection.ts';
import type { Feed } from './feed.ts';
import { openSocket } from './open-socket.ts';

/** Messages that wait to be shown before the socket is no longer read: the server then drops its backlog and sends an `init` later. */
const MOST_WAITING = 500;
/** The `Date` header tells the server's clock to a second; a capture at the last moment may still be on its way. */
const AFTER_EXPIRY_MS = 2000;
/** Long waits are walked in steps: a timer holds 24 days, and a clock may be set meanwhile. */
const LONGEST_WAIT_MS = 60_000;

export interface WatchOptions {
  readonly connection: Connection;
  readonly endpoint: Pick<Endpoint, 'uid' | 'expiresAt'>;
  readonly feed: Feed;
  readonly signal: AbortSignal;
  /** Told what happens to the connection, in sentences. */
  readonly tell: (sentence: string) => void;
  readonly reconnectMs?: number;
}

/** Feeds what is captured until the signal says stop. @throws CliProblem or ApiError when there is nothing left to wait for */
export async function watch(options: WatchOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const watcher = new Watcher(options, reject);
  options.signal.addEventListener('abort', () => resolve(), { once: true });
  if (options.signal.aborted) resolve();
  watcher.start();
  try {
    await promise;
  } finally {
    watcher.stop();
  }
}

class Watcher {
  readonly #options: WatchOptions;
  readonly #end: (reason: unknown) => void;
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;
  #socket: WebSocket | undefined;
  /** A socket whose feed has failed: what it still brings would only fail again. The next one's `init` heals it. */
  #failed: WebSocket | undefined;
  #lost = false;
  #expiresAt: string | null;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => {};
  #stopped = false;

  constructor(options: WatchOptions, end: (reason: unknown) => void) {
    this.#options = options;
    this.#end = end;
    this.#expiresAt = options.endpoint.expiresAt;
  }

  start(): void {
    const { connection, endpoint, reconnectMs } = this.#options;
    const url = new URL(`/ws?${new URLSearchParams({ endpoint: endpoint.uid }).toString()}`, connection.server);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#watchExpiry();
    this.#stopListening = listenLive({
      url: url.href,
      onMessage: (message) => this.#take(message),
      onState: (state, code) => this.#changed(state, code),
      openSocket: (address) => (this.#socket = openSocket(address, connection.headers())),
      ...(reconnectMs === undefined ? {} : { reconnectMs }),
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#stopListening();
    // A goodbye that the other side does not answer would hold the process up.
    this.#socket?.terminate();
  }

  #take(message: LiveMessage): void {
    if (message.type === 'init') this.#feed(message.data.toReversed());
    if (message.type === 'request') this.#feed([message.data]);
    if (message.type === 'endpoint') this.#knowExpiry(message.data.expiresAt);
  }

  #feed(arrived: Parameters<Feed['take']>[0]): void {
    const socket = this.#socket;
    this.#enqueue(async () => {
      if (socket === this.#failed) return;
      await this.#options.feed.take(arrived).catch((error: unknown) => {
        if (isFinal(error)) throw error;
        this.#failed = socket;
        socket?.terminate();
      });
    });
  }

  /** One after the other. A reader that is slower than the captures stops the socket, and so, in the end, the server's sending. */
  #enqueue(job: () => Promise<void>): void {
    this.#waiting += 1;
    if (this.#waiting >= MOST_WAITING) this.#socket?.pause();
    this.#work = this.#work
      .then(() => (this.#stopped ? undefined : job()))
      .catch(this.#end)
      .finally(() => {
        this.#waiting -= 1;
        if (this.#waiting === 0 && this.#socket?.isPaused === true) this.#socket.resume();
      });
  }

  #changed(state: LiveState, code?: number): void {
    if (state === 'connected' && this.#lost) {
      this.#lost = false;
      this.#options.tell('Connected again.');
    }
    if (state === 'disconnected') {
      if (!this.#lost) this.#options.tell('The connection is lost. Trying again.');
      this.#lost = true;
      this.#enqueue(() => this.#look());
    }
    if (state === 'ended')
      // What came before the end is shown first.
      this.#enqueue(async () => {
        throw new CliProblem(
          code === LIVE_CLOSE_SIGNED_OUT
            ? 'The session has ended. Sign in with: creel login'
            : 'The endpoint was deleted.',
        );
      });
  }

  /** A refused socket does not say why it was; a call does. */
  async #look(): Promise<void> {
    const { connection, endpoint } = this.#options;
    try {
      const found = await connection.client.call('getEndpoint', { params: { uid: endpoint.uid } });
      this.#knowExpiry(found.expiresAt);
    } catch (error) {
      if (isFinal(error)) throw error;
    }
  }

  #knowExpiry(expiresAt: string | null): void {
    this.#expiresAt = expiresAt;
    this.#watchExpiry();
  }

  /** Expiry closes no socket: the endpoint only takes no captures any more (contract 7). */
  #watchExpiry(): void {
    clearTimeout(this.#timer);
    if (this.#expiresAt === null || this.#stopped) return;
    const left = Date.parse(this.#expiresAt) + AFTER_EXPIRY_MS - this.#options.connection.now();
    this.#timer =
      left > 0
        ? setTimeout(() => this.#watchExpiry(), Math.min(left, LONGEST_WAIT_MS))
        : setTimeout(() => this.#enqueue(() => this.#expire()), 0);
  }

  async #expire(): Promise<void> {
    const expired = this.#expiresAt;
    await this.#look();
    if (this.#expiresAt !== expired) return;
    await this.#options.feed.catchUp();
    throw new CliProblem(PROBLEMS.ENDPOINT_EXPIRED.sentence);
  }
}

/** True when trying again would change nothing: refused, not understood, or nothing of the server's at all. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status >= 200 && error.status < 500 && ![408, 425, 429].includes(error.status);
}
