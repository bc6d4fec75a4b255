import type { WorkSteps } from '@creel/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairQueue } from '../limits/fair-queue.ts';

/** Milliseconds of work per turn of the event loop, so that all calls on the thread proceed. */
const SLICE_MS = 5;
/** Milliseconds of work that matching one request may take. A hundred plain terms take 2 s for the largest body. */
const MAX_MATCH_MS = 5000;
/** A body beyond this size is read and matched alone: its texts take up to six times as much memory. */
export const LARGE_BODY_BYTES = 1024 * 1024;
/** For work that holds a large body in memory. */
export const largeBodyQueue = new FairQueue({ concurrency: 2, maxWaiting: 10_000 });

/** Does work in slices, one after the other, while the thread does other work in between. */
export class SlicedWork {
  /** Milliseconds of a monotonic clock. */
  readonly #elapsed: () => number;
  #sliceBegan: number;

  constructor(elapsed = (): number => performance.now()) {
    this.#elapsed = elapsed;
    this.#sliceBegan = elapsed();
  }

  /** Returns the result, or `undefined` if the work takes too long. */
  async run(steps: WorkSteps, maxMs = MAX_MATCH_MS): Promise<boolean | undefined> {
    let earlierMs = -(this.#elapsed() - this.#sliceBegan);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      const sliceMs = this.#elapsed() - this.#sliceBegan;
      if (sliceMs < SLICE_MS) continue;
      earlierMs += sliceMs;
      if (earlierMs > maxMs) return undefined;
      await nextTurn();
      this.#sliceBegan = this.#elapsed();
    }
  }
}
