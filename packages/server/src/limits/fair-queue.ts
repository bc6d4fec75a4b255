import type { Owner } from './memory-budget.ts';

/** A queue in which owners take turns: an owner with a thousand items waits longer, the others do not. */
export class RoundRobin<Key, Item> {
  /** In the order of turns. Each queue holds at least one item. */
  readonly #queues = new Map<Key, Queue<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(owner: Key): number {
    return this.#queues.get(owner)?.size ?? 0;
  }

  push(owner: Key, item: Item): void {
    const queue = this.#queues.get(owner);
    if (queue === undefined) this.#queues.set(owner, new Queue(item));
    else queue.push(item);
    this.#size += 1;
  }

  /** Removes and returns the oldest item of the next owner whose oldest item fits. That owner then moves to the end. */
  shift(fits: (item: Item, owner: Key) => boolean = () => true): Item | undefined {
    for (const [owner, queue] of this.#queues) {
      const { oldest } = queue;
      if (oldest === undefined || !fits(oldest, owner)) continue;
      this.#queues.delete(owner);
      this.#size -= 1;
      const item = queue.shift();
      if (queue.size > 0) this.#queues.set(owner, queue);
      return item;
    }
    return undefined;
  }

  /** Removes an item before its turn. */
  remove(owner: Key, item: Item): void {
    const queue = this.#queues.get(owner);
    if (queue?.remove(item) !== true) return;
    this.#size -= 1;
    if (queue.size === 0) this.#queues.delete(owner);
  }
}

/** One of this many turns belongs to a busy owner, even if fresh ones wait. */
const BUSY_EVERY = 4;

/**
 * A queue in which owners take turns. An owner that rarely has an item does not wait for a round of busy owners. These
 * are the flow queues of FQ-CoDel (RFC 8290, 4.1) with a share for busy owners.
 */
export class FlowQueue<Key, Item> {
  /** Owners without a turn in the current round, oldest first. */
  readonly #fresh = new Map<Key, Queue<Item>>();
  /** The other owners, in the order of turns. One without items stays until its turn, and is fresh afterwards. */
  readonly #busy = new Map<Key, Queue<Item>>();
  #size = 0;
  #turn = 0;

  get size(): number {
    return this.#size;
  }

  push(owner: Key, item: Item): void {
    const queue = this.#fresh.get(owner) ?? this.#busy.get(owner);
    if (queue === undefined) this.#fresh.set(owner, new Queue(item));
    else queue.push(item);
    this.#size += 1;
  }

  /** Removes and returns the oldest item of the next owner. */
  shift(): Item | undefined {
    this.#turn = (this.#turn + 1) % BUSY_EVERY;
    const [first, second] = this.#turn === 0 ? [this.#busy, this.#fresh] : [this.#fresh, this.#busy];
    const item = this.#shiftFrom(first) ?? this.#shiftFrom(second);
    if (this.#size === 0) this.#busy.clear();
    return item;
  }

  #shiftFrom(queues: Map<Key, Queue<Item>>): Item | undefined {
    for (const [owner, queue] of queues) {
      queues.delete(owner);
      if (queue.size === 0) continue;
      this.#busy.set(owner, queue);
      this.#size -= 1;
      return queue.shift();
    }
    return undefined;
  }
}

/** First in, first out. `Array.shift` moves all remaining items, which makes long queues quadratic. */
class Queue<Item> {
  #items: Item[];
  #first = 0;

  constructor(item: Item) {
    this.#items = [item];
  }

  get size(): number {
    return this.#items.length - this.#first;
  }

  get oldest(): Item | undefined {
    return this.#items[this.#first];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#first];
    this.#first += 1;
    if (this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  remove(item: Item): boolean {
    const at = this.#items.indexOf(item, this.#first);
    if (at < 0) return false;
    this.#items.splice(at, 1);
    return true;
  }
}

/** A limit of waiting work is reached. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** Each limit is `Infinity` by default, and `shareOfFree` is 1. */
export interface FairQueueOptions {
  /** How much work runs at once, of all owners and of one. */
  readonly concurrency?: number;
  readonly concurrencyPerOwner?: number;
  /** An owner gets at most this part of the slots that the others don't use, so that a few owners don't take all. */
  readonly shareOfFree?: number;
  /** Maximum number of waiting calls, of all owners and of one. */
  readonly maxWaiting?: number;
  readonly maxWaitingPerOwner?: number;
}

interface Waiting {
  readonly slots: number;
  readonly begin: () => void;
}

/** Bounded queue that shares a limited resource fairly between users: waiting owners take turns. */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  readonly #waiting = new RoundRobin<Owner, Waiting>();
  readonly #usedByOwner = new Map<Owner, number>();
  #used = 0;
  /** The next work needs more slots than are free. Until it has them, no other work gets any. */
  #isHeld = false;

  constructor(options: FairQueueOptions) {
    this.#options = {
      concurrency: Infinity,
      concurrencyPerOwner: Infinity,
      shareOfFree: 1,
      maxWaiting: Infinity,
      maxWaitingPerOwner: Infinity,
      ...options,
    };
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` when it is the owner's turn; its argument is true if it had to wait. `slots`: how many it takes, at most
   * `concurrency`. Work that is aborted before its turn never runs. @throws QueueFullError; the signal's reason
   */
  async run<T>(owner: Owner, work: (waited: boolean) => Promise<T>, signal?: AbortSignal, slots = 1): Promise<T> {
    signal?.throwIfAborted();
    const waited = this.#isHeld || !this.#hasShare(owner, slots) || slots > this.#free;
    if (waited) await this.#wait(owner, slots, signal);
    else this.#count(owner, slots);
    try {
      return await work(waited);
    } finally {
      this.#count(owner, -slots);
      this.#beginWaiting();
    }
  }

  get #free(): number {
    return this.#options.concurrency - this.#used;
  }

  /** Whether the owner may have these slots too. Without any, it may have as many as its work needs. */
  #hasShare(owner: Owner, slots: number): boolean {
    const { concurrencyPerOwner, shareOfFree } = this.#options;
    const own = this.#usedByOwner.get(owner) ?? 0;
    const before = own + slots - 1;
    return own === 0 || (before < concurrencyPerOwner && before < shareOfFree * (this.#free + own));
  }

  #count(owner: Owner, change: number): void {
    this.#used += change;
    const used = (this.#usedByOwner.get(owner) ?? 0) + change;
    if (used === 0) this.#usedByOwner.delete(owner);
    else this.#usedByOwner.set(owner, used);
  }

  /** Begins all that may run now, up to the first that only lacks free slots. */
  #beginWaiting(): void {
    this.#isHeld = false;
    const mayRun = ({ slots }: Waiting, owner: Owner): boolean => {
      if (this.#isHeld || !this.#hasShare(owner, slots)) return false;
      this.#isHeld = slots > this.#free;
      return !this.#isHeld;
    };
    // Without a free slot nothing can begin, and a search of all waiting work after each run would take quadratic time.
    while (this.#free > 0) {
      const next = this.#waiting.shift(mayRun);
      if (next === undefined) return;
      next.begin();
    }
  }

  #wait(owner: Owner, slots: number, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, maxWaitingPerOwner } = this.#options;
    if (this.#waiting.size >= maxWaiting || this.#waiting.sizeOf(owner) >= maxWaitingPerOwner)
      throw new QueueFullError();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', abort);
        this.#count(owner, slots);
        resolve();
      };
      const waiting = { slots, begin };
      const abort = (): void => {
        this.#waiting.remove(owner, waiting);
        this.#beginWaiting();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(owner, waiting);
      this.#isHeld ||= this.#hasShare(owner, slots);
    });
  }
}
