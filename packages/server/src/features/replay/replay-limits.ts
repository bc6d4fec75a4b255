import { ProblemError } from '../../http/problem.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { TokenBucket } from '../../limits/token-bucket.ts';

/**
 * Replays per second of one user and to one target; bursts may be ten times as large. One user can't exhaust a target.
 */
const PER_SECOND = 20;
const PER_SECOND_TO_TARGET = 5 * PER_SECOND;
/** Running replays of one user, including their responses, and waiting ones. */
const AT_ONCE = 10;
const MAX_WAITING = 200;
/** Maximum number of remembered users and targets; the oldest are dropped. */
const MAX_REMEMBERED = 10_000;

const TOO_MANY = 'Too many replays at once. Please try again in a moment.';

/** A map that drops its oldest entries. */
class LruMap<Key, Value> {
  readonly #known = new Map<Key, Value>();
  readonly #make: () => Value;

  constructor(make: () => Value) {
    this.#make = make;
  }

  of(key: Key): Value {
    const value = this.#known.get(key) ?? this.#make();
    // Reinserts the entry: a map's first entry is its oldest.
    this.#known.delete(key);
    this.#known.set(key, value);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    return value;
  }
}

/**
 * Limits the rate of replays per user and per target, and their concurrency per user, so that a user can neither fill
 * the server with replays nor flood another server. Excess replays wait, and are rejected when too many wait.
 */
export class ReplayLimits {
  readonly #users: LruMap<number, TokenBucket>;
  readonly #targets: LruMap<string, TokenBucket>;
  readonly #queue = new FairQueue({ concurrencyPerOwner: AT_ONCE, maxWaitingPerOwner: MAX_WAITING });

  constructor(now: () => number) {
    this.#users = new LruMap(() => new TokenBucket(PER_SECOND, now));
    this.#targets = new LruMap(() => new TokenBucket(PER_SECOND_TO_TARGET, now));
  }

  /**
   * Counts a replay of a user to a target (host and port). A replay that the user's limit rejects does not count for
   * the target. @throws ProblemError RATE_LIMITED
   */
  count(userId: number, target: string): void {
    const wait = this.#users.of(userId).consume() || this.#targets.of(target).consume();
    if (wait > 0) throw new ProblemError('RATE_LIMITED', { sentence: TOO_MANY, retryAfter: wait });
  }

  /** Waits for this user's turn. Returns the function that ends it. @throws QueueFullError */
  turn(userId: number): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const ended = (): Promise<void> => new Promise((leave) => resolve(leave));
    this.#queue.run(userId, ended).catch(reject);
    return promise;
  }
}
