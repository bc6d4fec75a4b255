import { Queue } from './fair-queue.ts';

/** One of this many turns belongs to a busy owner, even if fresh ones wait. */
const BUSY_EVERY = 4;

/**
 * A queue in which owners take turns, and an owner that rarely has an item does not wait for a round of those that
 * always have one. These are the flow queues of FQ-CoDel (RFC 8290, 4.1) with a share for busy owners.
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
