/** Owner of the memory: a user's id, or a client address. */
export type Owner = number | string;

export interface MemoryBudgetOptions {
  /** Maximum bytes in use, over all owners. */
  readonly bytes: number;
  /** One owner's maximum share, so that no owner can use up what others need. */
  readonly maxShare?: number;
}

/**
 * Limits the memory that many users share. It allocates nothing: it counts what its users hold and rejects more than
 * the limit.
 */
export class MemoryBudget {
  readonly #bytes: number;
  readonly #maxPerOwner: number;
  readonly #usedBy = new Map<Owner, number>();
  #used = 0;

  constructor({ bytes, maxShare = 1 }: MemoryBudgetOptions) {
    this.#bytes = bytes;
    this.#maxPerOwner = bytes * maxShare;
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  /** An empty reservation. Its holder grows it, and releases it when the memory is free again. */
  reserve(owner: Owner): Reservation {
    return new Reservation((bytes) => this.#add(owner, bytes));
  }

  /** Counts more bytes, or fewer with a negative number. Returns false and counts nothing at the limit. */
  #add(owner: Owner, bytes: number): boolean {
    const owned = (this.#usedBy.get(owner) ?? 0) + bytes;
    if (bytes > 0 && (this.#used + bytes > this.#bytes || owned > this.#maxPerOwner)) return false;
    this.#used += bytes;
    if (owned === 0) this.#usedBy.delete(owner);
    else this.#usedBy.set(owner, owned);
    return true;
  }
}

/** One holder's bytes of a budget. Releasing is idempotent; a released reservation can't grow again. */
export class Reservation {
  readonly #add: (bytes: number) => boolean;
  #bytes = 0;
  #isReleased = false;

  /** Use `MemoryBudget.reserve`. */
  constructor(add: (bytes: number) => boolean) {
    this.#add = add;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves more bytes. Returns false and reserves nothing when the budget or the owner's share is used up. */
  grow(bytes: number): boolean {
    if (this.#isReleased || !this.#add(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Releases all bytes. */
  release(): void {
    this.#isReleased = true;
    if (this.#bytes > 0) this.#add(-this.#bytes);
    this.#bytes = 0;
  }
}
