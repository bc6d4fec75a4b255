import { setTimeout as sleep } from 'node:timers/promises';

/** Too many sign-ins at once; the caller answers 503. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy';
}

export interface HashLineOptions {
  /** How many are let through at once. */
  readonly atOnce: number;
  /** How many may wait before new ones are turned away. */
  readonly mostWaiting: number;
  /** How many captures there have been. Who stands in line steps back for them. */
  readonly captures: () => number;
}

/** After each hash that captures came in beside, the line rests three times as long as it took, and not longer than this. */
const RESTS = 3;
const MOST_REST_MS = 250;

/**
 * The line in front of the hashing of passwords, bounded, so that memory is. Each hash is felt by the captures beside it: they share
 * caches and memory with it, whatever its priority. One person who signs in is let through at once; of a crowd, one every tenth of a
 * second or so while captures come in, and one after the other when none do.
 */
export class HashLine {
  readonly #options: HashLineOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: HashLineOptions) {
    this.#options = options;
  }

  /** Does `work` when its turn has come, and tells it whether it had to wait. @throws PasswordsBusy */
  async pass<T>(work: (waited: boolean) => Promise<T>): Promise<T> {
    const waited = await this.#enter();
    const began = performance.now();
    const captured = this.#options.captures();
    try {
      return await work(waited);
    } finally {
      const disturbed = this.#options.captures() > captured;
      this.#leave(disturbed ? Math.min((performance.now() - began) * RESTS, MOST_REST_MS) : 0);
    }
  }

  async #enter(): Promise<boolean> {
    const { atOnce, mostWaiting } = this.#options;
    if (this.#running < atOnce) {
      this.#running += 1;
      return false;
    }
    if (this.#waiting.length >= mostWaiting) throw new PasswordsBusy();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }

  /** Nobody rests alone: with an empty line the next comer finds the door open. */
  #leave(restMs: number): void {
    if (this.#waiting.length === 0) this.#running -= 1;
    else if (restMs === 0) this.#waiting.shift()?.();
    else void sleep(restMs).then(() => this.#leave(0));
  }
}
