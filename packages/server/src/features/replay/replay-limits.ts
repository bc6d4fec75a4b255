import { TokenBucket } from '../../limits/token-bucket.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { ProblemError } from '../../http/problem.ts';

/** Replays a second of one person, and to one target, whoever sends them; bursts of ten times that. One person can't use a target up. */
const PER_SECOND = 20;
const PER_SECOND_TO_TARGET = 5 * PER_SECOND;
/** Replays of one person that are under way, up to the end of their responses, and that may wait. */
const AT_ONCE = 10;
const MOST_WAITING = 200;
/** How many people and targets are remembered. Who comes again after so many others starts anew. */
const MOST_REMEMBERED = 10_000;

const TOO_MANY = 'Too many replays at once. Please try again in a moment.';

/** What is remembered by key, the oldest forgotten. */
class Remembered<Key, Value> {
  readonly #known = new Map<Key, Value>();
  readonly #make: () => Value;

  constructor(make: () => Value) {
    this.#make = make;
  }

  of(key: Key): Value {
    const value = this.#known.get(key) ?? this.#make();
    // Put behind the others: in a map the first is the oldest.
    this.#known.delete(key);
    this.#known.set(key, value);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    return value;
  }
}

/**
 * Nobody is to fill the server with replays, or use it to flood somebody else's (hardening N24): so many a second for each person and each
 * target, and of one person's only some at once; what is more waits, and is turned away where too many wait.
 */
export class ReplayLimits {
  readonly #people: Remembered<number, TokenBucket>;
  readonly #targets: Remembered<string, TokenBucket>;
  readonly #queues = new Remembered<number, FairQueue>(
    () => new FairQueue({ concurrency: AT_ONCE, maxWaiting: MOST_WAITING }),
  );

  constructor(now: () => number) {
    this.#people = new Remembered(() => new TokenBucket(PER_SECOND, now));
    this.#targets = new Remembered(() => new TokenBucket(PER_SECOND_TO_TARGET, now));
  }

  /** Counts a replay of a person to a target, by host and port; what is refused to the person does not count there. @throws ProblemError RATE_LIMITED */
  count(person: number, target: string): void {
    const wait = this.#people.of(person).take() || this.#targets.of(target).take();
    if (wait > 0) throw new ProblemError('RATE_LIMITED', { sentence: TOO_MANY, retryAfter: wait });
  }

  /** Waits for this person's turn, and resolves with what ends it. @throws QueueFullError */
  turn(person: number): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const ended = (): Promise<void> => new Promise((leave) => resolve(leave));
    this.#queues.of(person).run(person, ended).catch(reject);
    return promise;
  }
}
