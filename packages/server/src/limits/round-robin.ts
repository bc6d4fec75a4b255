/** A queue in which owners take turns: an owner with a thousand items waits longer, the others do not. */
export class RoundRobin<Owner, Item> {
  /** In the order of turns. Each queue holds at least one item. */
  readonly #queues = new Map<Owner, Queue<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(owner: Owner): number {
    return this.#queues.get(owner)?.size ?? 0;
  }

  push(owner: Owner, item: Item): void {
    const queue = this.#queues.get(owner);
    if (queue === undefined) this.#queues.set(owner, new Queue(item));
    else queue.push(item);
    this.#size += 1;
  }

  /** Removes and returns the oldest item of the next owner whose oldest item fits. That owner then moves to the end. */
  shift(fits: (item: Item, owner: Owner) => boolean = () => true): Item | undefined {
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
  remove(owner: Owner, item: Item): void {
    const queue = this.#queues.get(owner);
    if (queue?.remove(item) !== true) return;
    this.#size -= 1;
    if (queue.size === 0) this.#queues.delete(owner);
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
