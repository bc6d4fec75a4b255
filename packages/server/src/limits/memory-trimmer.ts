import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const CHECK_MS = 1000;
/** Share of the time in which the event loop may work. A collection pauses it for about 30 ms. */
const MAX_UTILIZATION = 0.3;
/** Growth of V8's heap, in bytes, that is worth a collection. Ordinary load grows it by half as much, and needs it again. */
const HEAP_WORTH_BYTES = isMainThread ? 40_000_000 : 20_000_000;
/** Growth of resident memory, in bytes, that is worth a trim. It pauses the process for a few milliseconds. */
const RESIDENT_WORTH_BYTES = 20_000_000;
/** While a flood lasts, memory changes by more between two checks, and the pause would delay captures. */
const STILL_BYTES = 4_000_000;
/**
 * Buffers outside of the heap that ordinary load uses. V8 lets them grow by 64 MB before it collects them, which after a
 * flood can be minutes later.
 */
const ORDINARY_BUFFERS_BYTES = isMainThread ? 20_000_000 : 0;
/** If less is gained, the rest is in use. The next trim waits for this many checks, and then twice as many. */
const MIN_GAIN = 0.1;
const FIRST_WAIT = 4;
const MAX_WAIT = 256;

/** Memory whose unused part can be returned on demand. */
export interface TrimmableMemory {
  /** Bytes that it occupies. */
  readonly size: () => number;
  readonly trim: () => void;
  /** Growth, in bytes, that is worth a trim. */
  readonly worthBytes: number;
}

/**
 * Returns the memory of a flood when it is over. If a trim gains little, the rest is in use. It may be garbage later,
 * for example if clients hold connections without sending, so the next trims come at growing intervals.
 */
export class MemoryTrimmer {
  readonly #memory: TrimmableMemory;
  /** The smallest size so far. Ordinary load needs slightly more. */
  #least: number;
  #lastSize: number;
  #sizeAfterTrim = Infinity;
  /** The last trim gained much, so the next one may as well: V8 then frees the pages that few objects were on. */
  #hasGained = false;
  /** Checks until the next trim. */
  #left = 0;
  #wait = 0;

  constructor(memory: TrimmableMemory) {
    this.#memory = memory;
    this.#least = memory.size();
    this.#lastSize = this.#least;
  }

  /**
   * Trims if the memory has stayed larger than ordinary load needs. Call it every second. `utilization`: the share of
   * that second in which the event loop worked.
   */
  check(utilization: number): void {
    this.#left -= 1;
    if (utilization > MAX_UTILIZATION) return;
    const { size, trim, worthBytes } = this.#memory;
    const before = size();
    const isStill = Math.abs(before - this.#lastSize) < STILL_BYTES;
    this.#lastSize = before;
    this.#least = Math.min(this.#least, before);
    if (!isStill) return;
    if (before >= this.#sizeAfterTrim + worthBytes) this.#left = this.#wait = 0;
    if (!this.#hasGained && (this.#left > 0 || before < this.#least + worthBytes)) return;
    trim();
    const after = size();
    this.#lastSize = this.#sizeAfterTrim = after;
    this.#hasGained = after < before * (1 - MIN_GAIN);
    this.#wait = this.#hasGained ? 0 : Math.min(MAX_WAIT, Math.max(FIRST_WAIT, 2 * this.#wait));
    this.#left = this.#wait;
  }
}

/** V8's heap of this thread, and unusually many buffers outside of it. Undefined without Node's `--expose-gc`. */
function v8Heap(): TrimmableMemory | undefined {
  const collect = globalThis.gc;
  if (collect === undefined) return undefined;
  const size = (): number => {
    const { total_heap_size, external_memory } = getHeapStatistics();
    return total_heap_size + Math.max(0, external_memory - ORDINARY_BUFFERS_BYTES);
  };
  return { size, trim: () => void collect(), worthBytes: HEAP_WORTH_BYTES };
}

/**
 * Memory of the whole process, of which glibc keeps what was freed in the middle of its heaps. Undefined without glibc
 * or without Node's FFI.
 */
function residentMemory(): TrimmableMemory | undefined {
  try {
    const ffi = process.getBuiltinModule('node:ffi');
    const { malloc_trim } = ffi.dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } }).functions;
    return { size: process.memoryUsage.rss, trim: () => void malloc_trim(0n), worthBytes: RESIDENT_WORTH_BYTES };
  } catch {
    return undefined;
  }
}

/**
 * Returns memory to the system after floods: each thread its own heap, and the main thread that of the whole process.
 * V8 collects garbage when the program allocates, which can be minutes later. Returns whether glibc's memory is trimmed.
 */
export function trimMemoryAfterFloods(): boolean {
  const resident = isMainThread ? residentMemory() : undefined;
  // The heap first: a collection frees buffers, and with them memory of glibc.
  const trimmers = [v8Heap(), resident].filter((each) => each !== undefined).map((each) => new MemoryTrimmer(each));
  let last = performance.eventLoopUtilization();
  const check = (): void => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    for (const trimmer of trimmers) trimmer.check(utilization);
  };
  if (trimmers.length > 0) setInterval(check, CHECK_MS).unref();
  return resident !== undefined;
}
