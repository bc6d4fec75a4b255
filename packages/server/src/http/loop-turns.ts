import { RoundRobin } from '../limits/round-robin.ts';

/**
 * Starts one piece of work per turn of the event loop, with owners taking turns. Captures that arrive are read in
 * between, and a busy connection does not block the others. When nothing waits, work starts at once.
 */
export class LoopTurns {
  readonly #waiting = new RoundRobin<object, () => void>();
  #isFree = true;

  /** Runs `work` now or in a later turn. `owner`: what shares one turn, usually a connection. */
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
