import { RoundRobin } from '../limits/round-robin.ts';

/**
 * Starts one piece of work in each turn of the event loop, by turns between its owners. Captures that arrive meanwhile are read
 * between two pieces, and a connection with much to do does not hold up the others. When nothing waits, work starts at once.
 */
export class LoopTurns {
  readonly #waiting = new RoundRobin<object, () => void>();
  #isFree = true;

  /** Runs `work` now or in a later turn of the loop. `owner`: what shares one turn, usually a connection. */
  run(owner: object, work: () => void): void {
    if (!this.#isFree) return this.#waiting.push(owner, work);
    this.#isFree = false;
    setImmediate(this.#next);
    work();
  }

  readonly #next = (): void => {
    const work = this.#waiting.shift();
    if (work === undefined) {
      this.#isFree = true;
      return;
    }
    setImmediate(this.#next);
    work();
  };
}
