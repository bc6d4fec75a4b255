// How `npm start` and the bench run the server. Measurements: docs/decisions/0013-server-flags.md.

/**
 * Flags for Node. The first limits the memory for short-lived objects to 3 × 8 MB instead of 3 × 32 MB. The second keeps V8 from
 * treating captures, which live until their batch is on disk, as long-lived; that costs a quarter of the rate until the next start.
 * The others let the server return memory after a flood: it asks for a collection, V8 keeps free pages for 2 s instead of 8, and `node:ffi`,
 * which is experimental, calls glibc without a warning.
 */
export const serverFlags = [
  '--max-semi-space-size=8',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
  '--memory-pool-timeout=2',
  '--disable-warning=ExperimentalWarning',
];

/**
 * Defaults for the server's environment. By default glibc keeps a heap for each thread and rarely returns its memory; two heaps for a
 * dozen threads save 15 to 20 MB at the same rate. It also learns to keep large buffers; with a fixed threshold (its initial one, in
 * bytes), the memory of large bodies is returned when they are stored. Other systems ignore both variables.
 */
export const serverEnvironment = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };
