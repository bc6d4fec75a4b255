/** A bucket holds ten seconds of tokens. */
const BURST_FACTOR = 10;

/** A rate limit that allows bursts: a bucket of tokens, refilled steadily. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #max: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  constructor(perSecond: number, now: () => number) {
    this.#perMs = perSecond / 1000;
    this.#max = perSecond * BURST_FACTOR;
    this.#tokens = this.#max;
    this.#now = now;
    this.#filledAt = now();
  }

  /** Takes a token. Returns 0, or the whole seconds until the next one. */
  consume(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#max, this.#tokens + Math.max(0, now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs / 1000));
    this.#tokens -= 1;
    return 0;
  }
}

/** Sets an entry, which becomes the newest one. Beyond `max` entries, drops the oldest. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  // A map's first entry is its oldest.
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/** A function that runs `work` at most once per interval. Calls in between do nothing. `now` is a monotonic clock. */
export function throttled<Args extends unknown[]>(
  intervalMs: number,
  work: (...args: Args) => void,
  now = (): number => performance.now(),
): (...args: Args) => void {
  let ranAt = -Infinity;
  return (...args) => {
    if (now() - ranAt < intervalMs) return;
    ranAt = now();
    work(...args);
  };
}
