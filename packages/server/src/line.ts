import { setTimeout as sleep } from 'node:timers/promises';

/** Too many at once; the caller answers 503. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

export interface LineOptions {
  /** How many are let through at once. */
  readonly atOnce: number;
  /** How many may wait before new ones are turned away. */
  readonly mostWaiting: number;
  /** How many captures there have been: who stands in line steps back for them. Without it nobody does. */
  readonly captures?: () => number;
}

/** After work that captures came in beside, the line rests three times as long as it took, and not longer than this. */
const RESTS = 3;
const MOST_REST_MS = 250;

/** Of those who may wait, so many may be one and the same. */
const SHARE_OF_ONE = 1 / 2;

/**
 * A line in front of what many want at once, bounded, so that memory is. Whoever comes many times takes turns with the others as if they
 * came once, and leaves them room: nobody can fill the line for everybody. The work of a crowd that signs in is felt by the captures beside it:
 * looking people up takes turns of the event loop, and hashing shares caches and memory with them, whatever its priority. One person who
 * signs in is let through at once; a crowd goes one after the other, and while captures come in the line gives them most of the time.
 */
export class Line {
  readonly #options: Required<LineOptions>;
  /** Who waits, each with their own in the order in which they came; the first of the first is next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(options: LineOptions) {
    this.#options = { captures: () => 0, ...options };
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  /** Does `work` when its turn has come, and tells it whether it had to wait. `who`: whose it is. @throws LineTooLong */
  async pass<T>(who: string, work: (waited: boolean) => Promise<T>): Promise<T> {
    const waited = await this.#enter(who);
    const began = performance.now();
    const captured = this.#options.captures();
    try {
      return await work(waited);
    } finally {
      const disturbed = this.#options.captures() > captured;
      this.#leave(disturbed ? Math.min((performance.now() - began) * RESTS, MOST_REST_MS) : 0);
    }
  }

  async #enter(who: string): Promise<boolean> {
    const { atOnce, mostWaiting } = this.#options;
    if (this.#running < atOnce) {
      this.#running += 1;
      return false;
    }
    const own = this.#waiting.get(who) ?? [];
    if (this.#waitingCount >= mostWaiting || own.length >= mostWaiting * SHARE_OF_ONE) throw new LineTooLong();
    this.#waiting.set(who, own);
    this.#waitingCount += 1;
    await new Promise<void>((resolve) => own.push(resolve));
    return true;
  }

  /** Lets the next one in; whose it was goes behind the others. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [who, own] = first;
    this.#waiting.delete(who);
    this.#waitingCount -= 1;
    const begin = own.shift();
    if (own.length > 0) this.#waiting.set(who, own);
    begin?.();
  }

  /** Nobody rests alone: with an empty line the next comer finds the door open. */
  #leave(restMs: number): void {
    if (this.#waitingCount === 0) this.#running -= 1;
    else if (restMs === 0) this.#next();
    else void sleep(restMs).then(() => this.#leave(0));
  }
}
