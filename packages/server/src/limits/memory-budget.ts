/** Whose memory it is: an account's id, or a client address. */
export type Owner = number | string;

export interface MemoryBudgetOptions {
  /** Bytes that may be in use at once, over all owners. */
  readonly bytes: number;
  /** The part of it that one owner may use, so that nobody can use up what the others need. */
  readonly maxShare?: number;
}

/**
 * Bounds the memory that many users share. Nothing is allocated here: the budget counts what its users hold, and refuses more than
 * there is.
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

  /** Counts more bytes, or fewer with a negative number. Returns false, and counts nothing, when there is no room. */
  #add(owner: Owner, bytes: number): boolean {
    const owned = (this.#usedBy.get(owner) ?? 0) + bytes;
    if (bytes > 0 && (this.#used + bytes > this.#bytes || owned > this.#maxPerOwner)) return false;
    this.#used += bytes;
    if (owned === 0) this.#usedBy.delete(owner);
    else this.#usedBy.set(owner, owned);
    return true;
  }
}

/** The bytes that one holder has of a budget. Releasing is idempotent, and a released reservation cannot grow again. */
export class Reservation {
  readonly #add: (bytes: number) => boolean;
  #bytes = 0;
  #isReleased = false;

  /** Made by `MemoryBudget.reserve`. */
  constructor(add: (bytes: number) => boolean) {
    this.#add = add;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes more bytes. Returns false, and takes nothing, when the budget or the owner's share of it is used up. */
  grow(bytes: number): boolean {
    if (this.#isReleased || !this.#add(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Gives everything back. */
  release(): void {
    this.#isReleased = true;
    if (this.#bytes > 0) this.#add(-this.#bytes);
    this.#bytes = 0;
  }
}
