import { totalmem } from 'node:os';
import process from 'node:process';

/** A budget may take this share of the memory of a small machine. */
const MAX_SHARE_OF_MEMORY = 1 / 4;

/** Bytes that this process may use: those of the machine, or of its container. */
function usableBytes(): number {
  // 0 if Node does not know the limit of the container.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}

/** The wanted bytes of a budget, or fewer on a small machine. */
export function fittingBytes(wanted: number, usable = usableBytes()): number {
  return Math.min(wanted, Math.floor(usable * MAX_SHARE_OF_MEMORY));
}

/** Owner of the memory: a user's id, or a client address. */
export type Owner = number | string;

export interface MemoryBudgetOptions {
  /** Maximum bytes in use, over all owners. */
  readonly bytes: number;
  /** One owner's maximum share of what the others leave, so that not even a few owners together can use up everything. */
  readonly maxShare?: number;
  /** Bytes of each reservation that don't count, so that ordinary use always has memory. */
  readonly uncounted?: number;
}

/** Limits the memory that many users share. It counts what they hold, and rejects more than the limit. */
export class MemoryBudget {
  readonly #bytes: number;
  readonly #maxShare: number;
  readonly #uncounted: number;
  readonly #usedBy = new Map<Owner, number>();
  #used = 0;

  constructor({ bytes, maxShare = 1, uncounted = 0 }: MemoryBudgetOptions) {
    this.#bytes = bytes;
    this.#maxShare = maxShare;
    this.#uncounted = uncounted;
  }

  get used(): number {
    return this.#used;
  }

  /** Bytes that this owner may still reserve. Negative when more is held than the limit allows. */
  leftFor(owner: Owner): number {
    const owned = this.#usedBy.get(owner) ?? 0;
    return (this.#bytes - this.#used + owned) * this.#maxShare - owned;
  }

  /** An empty reservation. Its holder grows it, and releases it when the memory is free again. */
  reserve(owner: Owner): Reservation {
    return new Reservation(this, owner, this.#uncounted);
  }

  /** Counts more bytes, or fewer with a negative number. Use a reservation. */
  add(owner: Owner, bytes: number): void {
    this.#used += bytes;
    const owned = (this.#usedBy.get(owner) ?? 0) + bytes;
    if (owned === 0) this.#usedBy.delete(owner);
    else this.#usedBy.set(owner, owned);
  }
}

/** One holder's bytes of a budget. Releasing is idempotent; a released reservation can't grow again. */
export class Reservation {
  readonly #budget: MemoryBudget;
  readonly #owner: Owner;
  readonly #uncounted: number;
  #bytes = 0;
  #isReleased = false;

  /** Use `MemoryBudget.reserve`. */
  constructor(budget: MemoryBudget, owner: Owner, uncounted: number) {
    this.#budget = budget;
    this.#owner = owner;
    this.#uncounted = uncounted;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Maximum bytes that leave as much for the next reservation of this owner, and of another one. */
  get fairMax(): number {
    const counted = this.#counted(this.#bytes);
    const left = this.#budget.leftFor(this.#owner);
    return this.#uncounted + Math.max(counted, Math.floor((left + counted) / 2));
  }

  /** Reserves more bytes. Returns false and reserves nothing when the budget or the owner's share is used up. */
  grow(bytes: number): boolean {
    const more = this.#counted(this.#bytes + bytes) - this.#counted(this.#bytes);
    if (this.#isReleased || (more > 0 && more > this.#budget.leftFor(this.#owner))) return false;
    this.set(this.#bytes + bytes);
    return true;
  }

  /** Counts this many bytes, even beyond the limit, because they are held already. */
  set(bytes: number): void {
    if (this.#isReleased || bytes === this.#bytes) return;
    this.#budget.add(this.#owner, this.#counted(bytes) - this.#counted(this.#bytes));
    this.#bytes = bytes;
  }

  release(): void {
    this.set(0);
    this.#isReleased = true;
  }

  #counted(bytes: number): number {
    return Math.max(0, bytes - this.#uncounted);
  }
}
