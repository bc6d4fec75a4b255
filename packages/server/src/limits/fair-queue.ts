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

/** First in, first out. `Array.shift` moves all remaining items, which makes long queues quadratic. */
export class Queue<Item> {
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

/** The queue is full. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

export interface FairQueueOptions {
  /** How much work runs at once. */
  readonly concurrency: number;
  /** Maximum number of waiting calls. */
  readonly maxWaiting: number;
  /** One owner's maximum share of the waiting calls. */
  readonly maxShare?: number;
}

/** Bounded queue that shares a limited resource fairly between users: waiting owners take turns. */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  readonly #waiting = new RoundRobin<Owner, () => void>();
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { maxShare: 1, ...options };
  }

  /** No work runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` when it is the owner's turn; its argument tells whether it had to wait. Work that is aborted before its
   * turn never runs. @throws QueueFullError; the signal's reason
   */
  async run<T>(owner: Owner, work: (waited: boolean) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const waited = this.#running >= this.#options.concurrency;
    if (waited) await this.#wait(owner, signal);
    else this.#running += 1;
    try {
      return await work(waited);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #wait(owner: Owner, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, maxShare } = this.#options;
    if (this.#waiting.size >= maxWaiting || this.#waiting.sizeOf(owner) >= maxWaiting * maxShare)
      throw new QueueFullError();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.remove(owner, begin);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(owner, begin);
    });
  }
}

/** A queue for each owner, each with these options, so that an owner's work waits only for that owner's other work. */
export class QueuePerOwner {
  readonly #options: FairQueueOptions;
  readonly #queues = new Map<Owner, FairQueue>();

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Runs `work` when it is its turn among the owner's. @throws QueueFullError */
  async run<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(owner) ?? new FairQueue(this.#options);
    this.#queues.set(owner, queue);
    try {
      return await queue.run(owner, work);
    } finally {
      if (queue.isIdle) this.#queues.delete(owner);
    }
  }
}
