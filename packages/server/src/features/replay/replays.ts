import type { OutboundResponse, SendRequest, OutboundRequest } from './send-request.ts';
import { ProblemError } from '../../http/problem.ts';
import { ReplayFailure } from './replay-failure.ts';
import { ReplayLimits } from './replay-limits.ts';
import { parseTarget } from './target.ts';
import { ReplayWorker } from './replay-worker.ts';

/** Time limit of a replay in milliseconds, including its wait. */
const MAX_MS = 30_000;
/**
 * A replay whose turn comes with less than this share of its time left is rejected, because the target would hardly
 * have time to respond.
 */
const MIN_TIME_LEFT = 1 / 3;
/** Value of `Retry-After` in seconds. */
const RETRY_SECONDS = 10;

const TOO_LATE = 'Too many replays of yours wait for their destinations. Please try again in a moment.';

/** A request to send again, or a new one. */
export interface Replay extends Pick<OutboundRequest, 'method' | 'url' | 'headers'> {
  /** Called when the replay is sent, so that waiting replays hold no body. */
  readonly readBody: () => Promise<Uint8Array>;
}

/** The client that waits for the response. */
export interface Caller {
  /** The user whose limits apply. */
  readonly person: number;
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
  /** Defaults to a separate thread. */
  readonly sendRequest?: SendRequest;
}

/**
 * Sends requests to targets that users choose. It is the only part of the server that does, so all of them pass the
 * same checks. Responses are returned unchanged; redirects are not followed.
 */
export class Replays {
  readonly #options: ReplayOptions;
  readonly #limits: ReplayLimits;
  readonly #thread = new ReplayWorker();

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#limits = new ReplayLimits(options.now);
  }

  /**
   * Sends a user's replay when it is its turn. @throws ProblemError TARGET_NOT_ALLOWED, RATE_LIMITED, or REPLAY_FAILED
   * with the reason @throws QueueFullError
   */
  async send(
    { method, url, headers, readBody }: Replay,
    { person, signal, whenDone }: Caller,
  ): Promise<OutboundResponse> {
    const { allowPrivate, userAgent, maxMs = MAX_MS, sendRequest = this.#thread.sendRequest } = this.#options;
    const { host, port } = parseTarget(url);
    this.#limits.count(person, `${host} ${port}`);
    const until = performance.now() + maxMs;
    const leave = await this.#limits.turn(person);
    whenDone(leave);
    const left = until - performance.now();
    if (left < maxMs * MIN_TIME_LEFT)
      throw new ProblemError('UNAVAILABLE', { sentence: TOO_LATE, retryAfter: RETRY_SECONDS });
    if (signal.aborted) throw new ReplayFailure('The replay was given up before it was sent.');
    const body = await readBody();
    return sendRequest({ method, url, headers, body, userAgent: userAgent(), allowPrivate, maxMs: left }, signal);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}
