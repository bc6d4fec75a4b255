import type { WorkSteps } from '@creel/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairQueue } from '../limits/fair-queue.ts';

/** Milliseconds of work per turn of the event loop, so that all calls on the thread proceed. */
const SLICE_MS = 5;
/** Milliseconds of processor time that matching one request may take. A hundred plain terms take 2 s for the largest body. */
const MAX_MATCH_MS = 5000;
/** A body beyond this size is read in `largeBodyQueue`: its texts take up to six times as much memory. */
export const LARGE_BODY_BYTES = 1024 * 1024;
/** For work that holds a large body in memory: two at a time on a thread. */
export const largeBodyQueue = new FairQueue({ concurrency: 2, maxWaiting: 10_000 });

/** Milliseconds of processor time of this thread. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Does work in slices, one after the other, while the thread does other work in between. */
export class SlicedWork {
  /** Milliseconds of a monotonic clock, and of processor time. */
  readonly #elapsed: () => number;
  readonly #used: () => number;
  #sliceBegan: number;

  constructor(elapsed = (): number => performance.now(), used = usedMs) {
    this.#elapsed = elapsed;
    this.#used = used;
    this.#sliceBegan = elapsed();
  }

  /**
   * Returns the result, or `undefined` if the work takes more than `maxMs` of processor time: on a busy machine, the same
   * work takes many times as long.
   */
  async run(steps: WorkSteps, maxMs = MAX_MATCH_MS): Promise<boolean | undefined> {
    let total = 0;
    for (;;) {
      const before = this.#used();
      do {
        const { done, value } = steps.next();
        if (done === true) return value;
      } while (this.#elapsed() - this.#sliceBegan < SLICE_MS);
      total += this.#used() - before;
      if (total > maxMs) return undefined;
      await nextTurn();
      this.#sliceBegan = this.#elapsed();
    }
  }
}
