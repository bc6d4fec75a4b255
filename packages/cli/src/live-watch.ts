import { ApiError, LIVE_CLOSE_SIGNED_OUT, LIVE_RECONNECT_MS, PROBLEMS, listenLive } from '@creel/contract';
import type { CapturedRequest, Endpoint, LiveMessage, LiveState } from '@creel/contract';
import { WebSocket } from 'ws';
import type { CaptureFeed } from './capture-feed.ts';
import { CliError, SignedOutError, errorLines, isFromProxy, isTemporary } from './cli-error.ts';
import type { Connection } from './connection.ts';

/** The socket pauses at this many unprocessed messages. The server then drops its backlog and sends an `init` later. */
const MAX_QUEUED_MESSAGES = 500;
/** The `Date` header is exact to a second, and a capture from the last moment may still be on its way. */
const EXPIRY_GRACE_MS = 2000;
/** Long waits are split: a timer holds at most 24 days, and the clock may change. */
const MAX_TIMER_MS = 60_000;
/** The server pings every 30 s. After two missed pings the connection counts as dead. */
const MAX_SILENCE_MS = 75_000;

/** Opens a live socket with a program's headers. The socket terminates itself when the server is silent for too long. */
export function openSocket(url: string, headers: Record<string, string>): WebSocket {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const timer = setTimeout(() => {
    // A paused socket receives no pings.
    if (socket.isPaused) timer.refresh();
    else socket.terminate();
  }, MAX_SILENCE_MS);
  const restartTimer = (): void => void timer.refresh();
  for (const event of ['open', 'ping', 'message']) socket.on(event, restartTimer);
  socket.on('close', () => clearTimeout(timer));
  return socket;
}

/** What `watchLive` watches, and how it ends. */
export interface LiveWatchOptions {
  readonly connection: Connection;
  readonly endpoint: Pick<Endpoint, 'uid' | 'expiresAt'>;
  readonly feed: CaptureFeed;
  readonly signal: AbortSignal;
  /** Aborts, with the reason, when no more captures can come. Watches that share it end after the captures they have. */
  readonly ended: AbortController;
  /** Receives a sentence when the connection is lost or restored. */
  readonly notify: (sentence: string) => void;
  readonly reconnectMs?: number;
}

/** Feeds captures until `signal` aborts. @throws CliError or ApiError when no more captures can come */
export async function watchLive(options: LiveWatchOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const watch = new LiveWatch(options, (reason) => {
    options.ended.abort(reason);
    reject(reason);
  });
  options.signal.addEventListener('abort', () => resolve(), { once: true });
  if (options.signal.aborted) resolve();
  watch.start();
  try {
    await promise;
  } finally {
    watch.stop();
  }
}

class LiveWatch {
  readonly #options: LiveWatchOptions;
  readonly #fail: (reason: unknown) => void;
  #work: Promise<void> = Promise.resolve();
  #queued = 0;
  #socket: WebSocket | undefined;
  /** The socket whose feed has failed. Its later messages are skipped; the `init` of the next socket fills the gap. */
  #failedSocket: WebSocket | undefined;
  /** The socket that was paused last. The server closes one that does not read for long. */
  #pausedSocket: WebSocket | undefined;
  /** Whether the user was told that the connection is lost, and then what answers instead of the server. */
  #known: 'nothing' | 'lost' | 'cause' = 'nothing';
  #expiresAt: string | null;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => {};
  #isStopped = false;

  constructor(options: LiveWatchOptions, fail: (reason: unknown) => void) {
    this.#options = options;
    this.#fail = fail;
    this.#expiresAt = options.endpoint.expiresAt;
  }

  start(): void {
    const { connection, endpoint, reconnectMs } = this.#options;
    const url = new URL(`/ws?${new URLSearchParams({ endpoint: endpoint.uid }).toString()}`, connection.server);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#scheduleCheck();
    // Queued, so that captures from before the end are emitted first.
    const { signal } = this.#options.ended;
    signal.addEventListener('abort', () => this.#enqueue(async () => signal.throwIfAborted()), { once: true });
    this.#stopListening = listenLive({
      url: url.href,
      onMessage: (message) => this.#receive(message),
      onState: (state, code) => this.#changeState(state, code),
      openSocket: (address) => (this.#socket = openSocket(address, connection.headers())),
      ...(reconnectMs === undefined ? {} : { reconnectMs }),
    });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#stopListening();
    // A close handshake that the server does not answer would keep the process alive.
    this.#socket?.terminate();
  }

  #receive(message: LiveMessage): void {
    if (message.type === 'init') this.#feed(message.data.toReversed());
    if (message.type === 'request') this.#feed([message.data]);
    if (message.type !== 'endpoint') return;
    this.#expiresAt = message.data.expiresAt;
    this.#scheduleCheck();
  }

  #feed(captures: readonly CapturedRequest[]): void {
    const socket = this.#socket;
    this.#enqueue(async () => {
      if (socket === this.#failedSocket) return;
      await this.#options.feed.take(captures).catch((error: unknown) => {
        if (isPermanent(error)) throw error;
        this.#failedSocket = socket;
        socket?.terminate();
      });
    });
  }

  /** Runs jobs one after the other. A slow reader pauses the socket, so that the server stops sending. */
  #enqueue(job: () => Promise<void>): void {
    this.#queued += 1;
    if (this.#queued >= MAX_QUEUED_MESSAGES) {
      this.#socket?.pause();
      this.#pausedSocket = this.#socket;
    }
    this.#work = this.#work
      .then(() => (this.#isStopped ? undefined : job()))
      .catch(this.#fail)
      .finally(() => {
        this.#queued -= 1;
        if (this.#queued === 0 && this.#socket?.isPaused === true) this.#socket.resume();
      });
  }

  #changeState(state: LiveState, code?: number): void {
    if (state === 'connected' && this.#known !== 'nothing') {
      this.#known = 'nothing';
      this.#options.notify('Connected again.');
    }
    if (state === 'disconnected') {
      if (this.#known === 'nothing' && this.#socket !== this.#pausedSocket) {
        this.#known = 'lost';
        this.#options.notify('The connection is lost. Trying again.');
      }
      this.#enqueue(() => this.#check());
    }
    if (state === 'ended')
      this.#options.ended.abort(
        code === LIVE_CLOSE_SIGNED_OUT ? new SignedOutError() : new CliError('The endpoint was deleted.'),
      );
  }

  /** Milliseconds by the server's clock. */
  get #remainingMs(): number {
    if (this.#expiresAt === null) return Infinity;
    return Date.parse(this.#expiresAt) + EXPIRY_GRACE_MS - this.#options.connection.now();
  }

  /** The server closes no socket when an endpoint expires. It only stops capturing. */
  #scheduleCheck(minMs = 0): void {
    clearTimeout(this.#timer);
    if (this.#expiresAt === null || this.#isStopped) return;
    const check = (): void => {
      if (this.#remainingMs > 0) this.#scheduleCheck();
      else this.#enqueue(() => this.#check());
    };
    this.#timer = setTimeout(check, Math.min(MAX_TIMER_MS, Math.max(minMs, this.#remainingMs)));
  }

  /** Reads the endpoint, because a rejected socket gives no reason. */
  async #check(): Promise<void> {
    const { connection, endpoint, feed, reconnectMs = LIVE_RECONNECT_MS } = this.#options;
    try {
      const { expiresAt } = await connection.client.call('getEndpoint', { params: { uid: endpoint.uid } });
      this.#expiresAt = expiresAt;
      if (this.#remainingMs > 0) return this.#scheduleCheck();
      await feed.catchUp();
    } catch (error) {
      if (isPermanent(error)) throw error;
      this.#explain(error);
      // A computer that wakes up has no network yet.
      return this.#scheduleCheck(reconnectMs);
    }
    throw new CliError(PROBLEMS.ENDPOINT_EXPIRED.sentence);
  }

  /** Says once per lost connection what answers instead of the server, because the user may have to act. */
  #explain(error: unknown): void {
    if (this.#known !== 'lost' || !(error instanceof ApiError) || !isFromProxy(error)) return;
    this.#known = 'cause';
    for (const line of errorLines(error) ?? []) this.#options.notify(line);
  }
}

/** True when a retry would not help: the server rejects the call, or its response is not understood. */
function isPermanent(error: unknown): boolean {
  return !(error instanceof ApiError && (isTemporary(error) || isFromProxy(error)));
}
