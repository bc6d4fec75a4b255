/** What fits into a batch of captures, and when it is sent. */

/** Maximum size of a batch. Waiting captures take half of it at most, and leave the rest to new ones. */
const MAX_BATCH = 512;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** A megabyte takes about 10 ms on SQLite and 20 ms on PostgreSQL, and the captures of other users wait for it. */
const MAX_SLOW_BATCH_BYTES = MAX_BATCH_BYTES / 2;
const MAX_WAITING_SHARE = 1 / 2;
/** One user's maximum share of a batch. The captures of other users wait for two batches of a flooded endpoint. */
const MAX_USER_SHARE = 1 / 4;

/** The captures of a batch by their sizes and users. */
export class BatchShares {
  hasLarge = false;
  readonly #maxBytes: number;
  #count = 0;
  /** The bytes of its small captures, and their number and bytes by user. */
  #bytes = 0;
  readonly #byUser = new Map<number, { count: number; bytes: number }>();

  /** `isSlow`: storage takes long for its bytes. */
  constructor(isSlow: boolean) {
    this.#maxBytes = isSlow ? MAX_SLOW_BATCH_BYTES : MAX_BATCH_BYTES;
  }

  /** It has its share of waiting captures. */
  get hasEnoughWaiting(): boolean {
    return this.#count >= MAX_BATCH * MAX_WAITING_SHARE || this.#bytes >= this.#maxBytes * MAX_WAITING_SHARE;
  }

  /**
   * A capture that exceeds one user's share. It does not count as bytes of a batch. At most every other batch has one of
   * them, so the small captures of other users wait for one at most.
   */
  isLarge(bytes: number): boolean {
    return bytes > this.#maxBytes * MAX_USER_SHARE;
  }

  fits(userId: number, bytes: number): boolean {
    if (this.#count >= MAX_BATCH) return false;
    if (this.isLarge(bytes)) return !this.hasLarge;
    if (this.#bytes + bytes > this.#maxBytes) return false;
    const own = this.#byUser.get(userId);
    return own === undefined || (own.count < MAX_BATCH * MAX_USER_SHARE && !this.isLarge(own.bytes + bytes));
  }

  add(userId: number, bytes: number): void {
    this.#count += 1;
    if (this.isLarge(bytes)) {
      this.hasLarge = true;
      return;
    }
    this.#bytes += bytes;
    const own = this.#byUser.get(userId);
    if (own === undefined) this.#byUser.set(userId, { count: 1, bytes });
    else {
      own.count += 1;
      own.bytes += bytes;
    }
  }
}

/** Statistics of past batches. */
interface BatchState {
  /** Number of captures that fill a batch. */
  readonly targetSize: number;
  /** Moving average of the milliseconds per batch. */
  readonly batchMs: number;
}

export const FIRST_BATCH: BatchState = { targetSize: 1, batchMs: 0 };

/** When to send the collected captures: now, after this turn of the event loop, or within some milliseconds. */
type BatchMoment = 'now' | 'after-turn' | { readonly withinMs: number };

/**
 * Maximum time that captures wait for others: a fraction of a batch's time, within these bounds. They keep a sender from
 * waiting long for senders that left while storage was slow.
 */
const MAX_DELAY_OF_BATCH = 1 / 4;
const MIN_DELAY_MS = 1;
const MAX_DELAY_MS = 10;
/**
 * Above this many milliseconds per sender a batch waits for all senders, below it for half of them. Two alternating
 * groups save the time to read and answer one group, about 30 µs per sender. But they need a second sync, which costs
 * more on a slow disk.
 */
const SLOW_MS_PER_SENDER = 0.032;
/**
 * With fewer captures in flight, a batch never waits. They are rarely of senders that all return at once, and the wait
 * doubled the p90 at 500 captures per second.
 */
const MIN_WAITED_FOR = 6;
/** Weight of the last batch in `batchMs`. */
const NEWEST = 1 / 8;

/**
 * Senders that wait for a response before the next request form two groups: one is being stored while the other is
 * read. Without the delay, the first few would get their own sync, and the others would wait for it. A few senders never
 * wait.
 */
export function whenToSend({ targetSize, batchMs }: BatchState, gathered: number): BatchMoment {
  if (targetSize === 1) return 'after-turn';
  if (gathered >= targetSize) return 'now';
  return { withinMs: Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, batchMs * MAX_DELAY_OF_BATCH)) };
}

/**
 * The state after a batch. `inFlight`: captures of the batch and those that arrived meanwhile. `isSlow`: every
 * batch waits for all senders.
 */
export function afterBatch({ batchMs }: BatchState, tookMs: number, inFlight: number, isSlow: boolean): BatchState {
  const average = batchMs + (tookMs - batchMs) * NEWEST;
  if (inFlight < MIN_WAITED_FOR) return { targetSize: 1, batchMs: average };
  const waitsForAll = isSlow || average > inFlight * SLOW_MS_PER_SENDER;
  return { targetSize: waitsForAll ? inFlight : Math.ceil(inFlight / 2), batchMs: average };
}
