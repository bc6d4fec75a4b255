import type { OutboundResponse, SendRequest, OutboundRequest } from './send-request.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Sign } from '../signatures/service.ts';
import { ReplayFailure, REPLAY_ERRORS } from './replay-failure.ts';
import type { ThreadFailure } from './replay-failure.ts';
import { lookUpInPublic, lookUpOnSystem, resolveTarget, parseTarget } from './target.ts';
import type { Lookup } from './target.ts';
import { LazyWorker } from '../../workers/worker-client.ts';
import { workerFile } from '../../workers/worker-file.ts';
import type { ReplayMethods } from './replay-thread.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { TokenBucket, setNewest } from '../../limits/rate-limits.ts';

export type { OutboundResponse };

/** Time limit of a replay in milliseconds, including its wait. */
const MAX_MS = 30_000;
/** A replay with a smaller share of its time left is rejected: the target would hardly have time to respond. */
const MIN_TIME_LEFT = 1 / 3;
/** Value of `Retry-After` in seconds. */
const RETRY_SECONDS = 10;

const TOO_LATE = 'Too many replays of yours wait for their destinations. Please try again in a moment.';

/** A request to send again, or a new one. */
export interface Replay extends Pick<OutboundRequest, 'method' | 'url' | 'headers'> {
  /** Called when the replay is sent, so that waiting replays hold no body. */
  readonly readBody: () => Promise<Uint8Array>;
  /** Returns the headers with a new signature of the body. */
  readonly sign?: Sign | undefined;
}

/** The client that waits for the response. */
export interface Caller {
  /** The user whose limits apply. */
  readonly userId: number;
  /** Aborts when the client no longer waits. */
  readonly signal: AbortSignal;
  /** Calls back when the response was delivered or the client left; until then its memory is in use. */
  readonly whenDone: (done: () => void) => void;
}

export interface ReplayOptions {
  /** Whether this machine and private networks are allowed (`ALLOW_PRIVATE_TARGETS`). */
  readonly allowPrivate: boolean;
  readonly now: () => number;
  /** The user agent for replays without one. */
  readonly userAgent: () => string;
  readonly maxMs?: number;
  /** The thread that sends ended because of a bug or a full heap. The next request starts another one. */
  readonly onThreadCrash?: (error: Error) => void;
  /** Defaults to a separate thread. */
  readonly sendRequest?: SendRequest;
  /** How `checkTarget` looks names up; defaults to the same as when sending. */
  readonly lookUp?: Lookup;
}

/** A request that a destination gets. The caller has its own limits. */
export interface Forward extends Pick<OutboundRequest, 'userId' | 'method' | 'url' | 'headers' | 'body'> {
  readonly keptBytes: number;
}

/**
 * Sends requests to targets that users choose. It is the only part of the server that does, so all of them pass the
 * same checks. Responses are returned unchanged; redirects are not followed.
 */
export class Replays {
  readonly #options: ReplayOptions;
  readonly #limits: ReplayLimits;
  readonly #sendRequest: SendRequest;
  /** Its own thread, so that a busy target never delays captures. Starts with the first request. */
  readonly #thread: LazyWorker<ReplayMethods, ThreadFailure>;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#limits = new ReplayLimits(options.now);
    this.#thread = new LazyWorker({
      file: workerFile(import.meta.url, './replay-thread.ts', './replay-thread.js'),
      name: 'replay',
      // For messages and heads, also the largest ones of all deliveries in flight. Bodies are outside V8's heap.
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 192 },
      errors: REPLAY_ERRORS,
      isDaemon: true,
      onCrash: options.onThreadCrash,
    });
    this.#sendRequest = options.sendRequest ?? ((request, signal) => this.#sendInThread(request, signal));
  }

  /**
   * Sends a user's replay when it is its turn. @throws ProblemError TARGET_NOT_ALLOWED, RATE_LIMITED, or REPLAY_FAILED
   * with the reason @throws QueueFullError
   */
  async send(
    { method, url, headers: given, readBody, sign }: Replay,
    { userId, signal, whenDone }: Caller,
  ): Promise<OutboundResponse> {
    const { allowPrivate, userAgent, maxMs = MAX_MS } = this.#options;
    const { host, port } = parseTarget(url);
    this.#limits.count(userId, `${host} ${port}`);
    const until = performance.now() + maxMs;
    const leave = await this.#limits.turn(userId);
    whenDone(leave);
    const left = until - performance.now();
    if (left < maxMs * MIN_TIME_LEFT)
      throw new ProblemError('UNAVAILABLE', { sentence: TOO_LATE, retryAfter: RETRY_SECONDS });
    if (signal.aborted) throw new ReplayFailure('The replay was canceled before it was sent.');
    const body = await readBody();
    const headers = sign === undefined ? given : await sign(given, body);
    const request = { userId, method, url, headers, body, userAgent: userAgent(), allowPrivate, maxMs: left };
    return this.#sendRequest(request, signal);
  }

  /** Starts the thread that sends, so that the first request does not wait for it. */
  prepare(): void {
    if (this.#options.sendRequest === undefined) this.#thread.start();
  }

  /**
   * Sends a request of a destination, with the same checks as a replay and without a user's limits. @throws
   * ProblemError TARGET_NOT_ALLOWED, or REPLAY_FAILED with the reason
   */
  forward(request: Forward, signal: AbortSignal): Promise<OutboundResponse> {
    const { allowPrivate, userAgent, maxMs = MAX_MS } = this.#options;
    return this.#sendRequest({ ...request, userAgent: userAgent(), allowPrivate, maxMs }, signal);
  }

  /**
   * Checks where a URL leads now. A name without an address is accepted, because each attempt checks again. @throws
   * ProblemError TARGET_NOT_ALLOWED
   */
  async checkTarget(url: string, userId: number): Promise<void> {
    const { allowPrivate, lookUp = allowPrivate ? lookUpOnSystem : lookUpInPublic } = this.#options;
    const target = parseTarget(url);
    try {
      await resolveTarget(target, { allowPrivate, lookUp, userId });
    } catch (error) {
      if (!(error instanceof ReplayFailure)) throw error;
    }
  }

  async #sendInThread(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    const { buffer, byteLength } = request.body;
    // Moved instead of copied, because nothing reads the body again. A small one may share its memory with others.
    const transfer = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
    const { body, ...rest } = await this.#thread.call('sendRequest', request, { signal, transfer });
    return { ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  }

  close(): Promise<void> {
    return this.#thread.terminate();
  }
}

/** Replays per second of one user, and to one target, which one user can't exhaust. Bursts are ten times as large. */
const PER_SECOND = 20;
const PER_SECOND_TO_TARGET = 5 * PER_SECOND;
/** Running replays of one user, including their responses, and waiting ones. */
const AT_ONCE = 10;
const MAX_WAITING = 200;
/** Maximum number of remembered users and targets; the oldest are dropped. */
const MAX_REMEMBERED = 10_000;

const TOO_MANY = 'Too many replays at once. Please try again in a moment.';

/**
 * Limits the rate of replays per user and per target, and their concurrency per user. So no user can fill the server
 * with replays or flood another server. Excess replays wait, and are rejected when too many wait.
 */
export class ReplayLimits {
  readonly #users = new Map<number, TokenBucket>();
  readonly #targets = new Map<string, TokenBucket>();
  readonly #queue = new FairQueue({ concurrencyPerOwner: AT_ONCE, maxWaitingPerOwner: MAX_WAITING });
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Counts a replay of a user to a target (host and port). A replay that the user's limit rejects does not count for
   * the target. @throws ProblemError RATE_LIMITED
   */
  count(userId: number, target: string): void {
    const wait =
      this.#consume(this.#users, userId, PER_SECOND) || this.#consume(this.#targets, target, PER_SECOND_TO_TARGET);
    if (wait > 0) throw new ProblemError('RATE_LIMITED', { sentence: TOO_MANY, retryAfter: wait });
  }

  /** See `TokenBucket.consume`. */
  #consume<Key>(buckets: Map<Key, TokenBucket>, key: Key, perSecond: number): number {
    const bucket = buckets.get(key) ?? new TokenBucket(perSecond, this.#now);
    setNewest(buckets, key, bucket, MAX_REMEMBERED);
    return bucket.consume();
  }

  /** Waits for this user's turn. Returns the function that ends it. @throws QueueFullError */
  turn(userId: number): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const ended = (): Promise<void> => new Promise((leave) => resolve(leave));
    this.#queue.run(userId, ended).catch(reject);
    return promise;
  }
}
