import { FairQueue } from '../../limits/fair-queue.ts';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import type { Reservation } from '../../limits/memory-budget.ts';

/** Maximum bytes of all live viewers, and of one user; see `Share.room`. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_PER_USER = 24 * 1024 * 1024;
/** Bytes per viewer that don't count, so that an ordinary viewer always has enough. */
const FREE_BYTES = 128 * 1024;
/** Maximum number of concurrent snapshot reads, because the size of a snapshot is unknown until it is read. */
const MAX_READS = 4;

/** The memory that live viewers share: waiting events, an `init` in progress, and data that sockets have not sent. */
export class LiveMemory {
  readonly #budget: MemoryBudget;
  /** The limit of live connections bounds what waits. */
  readonly #reads = new FairQueue({ concurrency: MAX_READS });

  /** Both in bytes. */
  constructor(max = MAX_BYTES, maxPerUser = MAX_BYTES_PER_USER) {
    this.#budget = new MemoryBudget({ bytes: max, maxShare: maxPerUser / max });
  }

  /** Bytes in use. */
  get taken(): number {
    return this.#budget.used;
  }

  /** The share of one more viewer of this user; it starts at zero. */
  share(userId: number): Share {
    return new Share(this.#budget.reserve(userId));
  }

  /** Calls `read` now, or after others have finished. Users take turns. */
  read<T>(userId: number, read: () => Promise<T>): Promise<T> {
    return this.#reads.run(userId, read);
  }
}

/** One viewer's part of the shared memory. */
export class Share {
  readonly #reservation: Reservation;

  /** Use `LiveMemory.share`. */
  constructor(reservation: Reservation) {
    this.#reservation = reservation;
  }

  /**
   * Maximum bytes that this viewer may hold now. What counts may not exceed what remains afterwards, in total and for
   * its user, so that viewers that don't read always leave memory for the next one.
   */
  get room(): number {
    const { bytes, left } = this.#reservation;
    return FREE_BYTES + Math.max(bytes, Math.floor((left + bytes) / 2));
  }

  /** Counts the bytes that are held, even beyond the limit. */
  note(bytes: number): void {
    this.#reservation.set(Math.max(0, bytes - FREE_BYTES));
  }

  /** Frees everything after the socket was closed. */
  release(): void {
    this.#reservation.release();
  }
}
