import { RoundRobin } from './round-robin.ts';
import type { Owner } from './memory-budget.ts';

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
