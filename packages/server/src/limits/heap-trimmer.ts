import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

const CHECK_MS = 2000;
/** Share of the time in which the event loop may work. A collection pauses it for about 30 ms. */
const MAX_UTILIZATION = 0.3;
/** Growth of the heap, in bytes, that is worth a collection. Ordinary load grows it by half as much, and needs it again. */
const WORTH_BYTES = 40_000_000;
/** While a flood of large bodies lasts, the heap changes by more between two checks, and a collection would delay captures. */
const STILL_BYTES = 4_000_000;
/** V8 lets buffers outside of the heap grow by this much before it collects them, so ordinary load has as many. */
const ORDINARY_BUFFERS_BYTES = 64_000_000;
/** A collection that gains less leaves what is in use. */
const MIN_GAIN = 0.1;

/** A heap whose garbage can be collected on demand. */
export interface TrimmableHeap {
  /** Share of the time in which the event loop worked since the last call. */
  readonly utilization: () => number;
  /** Bytes that the heap has of the system, and unusually many buffers outside of it. */
  readonly size: () => number;
  readonly collect: () => void;
}

/**
 * Returns the memory of a flood when it is over. V8 collects garbage when the program allocates, which can be minutes
 * later. The first collection frees most objects, and the next one the pages that the last of them were on.
 */
export class HeapTrimmer {
  readonly #heap: TrimmableHeap;
  /**
   * The size at the start or after the last collection that gained little. There is no collection at the start: after the
   * first one V8 collects more often, which takes a tenth of the rate of captures.
   */
  #inUse: number;
  /** The last collection gained much, so the next one may as well. */
  #hasGained = false;
  #lastSize: number;

  constructor(heap: TrimmableHeap) {
    this.#heap = heap;
    this.#inUse = heap.size();
    this.#lastSize = this.#inUse;
  }

  /** Collects garbage if the process is quiet and the heap has stayed larger than what is in use. */
  check(): void {
    if (this.#heap.utilization() > MAX_UTILIZATION) return;
    const before = this.#heap.size();
    const isStill = Math.abs(before - this.#lastSize) < STILL_BYTES;
    this.#lastSize = before;
    this.#inUse = Math.min(this.#inUse, before);
    if (!isStill) return;
    if (before < this.#inUse + WORTH_BYTES && !this.#hasGained) return;
    this.#heap.collect();
    const after = this.#heap.size();
    this.#lastSize = after;
    this.#hasGained = after < before * (1 - MIN_GAIN);
    if (!this.#hasGained) this.#inUse = after;
  }
}

/**
 * Trims the heap of this thread after floods. After a flood of large bodies, the garbage is few objects with up to
 * 170 MB of buffers. Without Node's `--expose-gc`, only V8 decides.
 */
export function trimHeapAfterFloods(): void {
  const collect = globalThis.gc;
  if (collect === undefined) return;
  let last = performance.eventLoopUtilization();
  const utilization = (): number => {
    const since = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    return since.utilization;
  };
  const size = (): number => {
    const { total_heap_size, external_memory } = getHeapStatistics();
    return total_heap_size + Math.max(0, external_memory - ORDINARY_BUFFERS_BYTES);
  };
  const trimmer = new HeapTrimmer({ utilization, size, collect: () => void collect() });
  setInterval(() => trimmer.check(), CHECK_MS).unref();
}
