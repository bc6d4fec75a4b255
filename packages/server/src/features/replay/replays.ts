import type { Carried, Carry, Errand } from './carry.ts';
import { ProblemError } from '../../http/problem.ts';
import { ReplayFailure } from './replay-failure.ts';
import { ReplayLimits } from './replay-limits.ts';
import { parseTarget } from './target.ts';
import { ThreadCarrier } from './thread-carrier.ts';

/** A replay has this long for everything: to wait for its turn, to reach the target, and to be answered (hardening S7). */
const MOST_MS = 30_000;
/** Whose turn comes later than with this share of it left is sent away, to come again: a target would hardly have the time to answer. */
const LEAST_LEFT = 1 / 3;
/** Whole seconds after which to come again. */
const RETRY_SECONDS = 10;

const TOO_LATE = 'Too many replays of yours wait for their targets. Please try again in a moment.';

/** A request that is sent again, or a new one. */
export interface Replay extends Pick<Errand, 'method' | 'url' | 'headers'> {
  /** Read when it is sent: who waits in line holds no body. */
  readonly readBody: () => Promise<Uint8Array>;
}

/** Who waits for the answer. */
export interface Caller {
  /** Whose replays it counts among. */
  readonly person: number;
  /** Goes off when nobody waits any more. */
  readonly gone: AbortSignal;
  /** Calls back once the answer has been taken, or nobody is left to take it: until then its memory is in use. */
  readonly whenDone: (done: () => void) => void;
}

export interface ReplayOptions {
  /** Whether this machine and private networks may be reached (contract 8, `ALLOW_PRIVATE_TARGETS`). */
  readonly allowPrivate: boolean;
  readonly now: () => number;
  /** By what name we go where a replay has no `User-Agent` of its own. */
  readonly userAgent: () => string;
  readonly mostMs?: number;
  /** On a thread of its own unless given. */
  readonly carry?: Carry;
}

/**
 * Sends requests to targets that users name: the one place of the server that does, so that each of them passes the same guard. What the
 * target answers is handed on as it came; redirects are not followed.
 */
export class Replays {
  readonly #options: ReplayOptions;
  readonly #limits: ReplayLimits;
  readonly #thread = new ThreadCarrier();

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#limits = new ReplayLimits(options.now);
  }

  /**
   * Sends a person's replay when it is its turn.
   * @throws ProblemError TARGET_NOT_ALLOWED, RATE_LIMITED, or REPLAY_FAILED with the reason
   * @throws LineTooLong
   */
  async send({ method, url, headers, readBody }: Replay, { person, gone, whenDone }: Caller): Promise<Carried> {
    const { allowPrivate, userAgent, mostMs = MOST_MS, carry = this.#thread.carry } = this.#options;
    const { host, port } = parseTarget(url);
    this.#limits.count(person, `${host} ${port}`);
    const until = performance.now() + mostMs;
    const leave = await this.#limits.turn(person);
    whenDone(leave);
    const left = until - performance.now();
    if (left < mostMs * LEAST_LEFT)
      throw new ProblemError('UNAVAILABLE', { sentence: TOO_LATE, retryAfter: RETRY_SECONDS });
    if (gone.aborted) throw new ReplayFailure('The replay was given up before it was sent.');
    const body = await readBody();
    return carry({ method, url, headers, body, userAgent: userAgent(), allowPrivate, mostMs: left }, gone);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}
