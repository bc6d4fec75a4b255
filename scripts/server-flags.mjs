// How `npm start` and the bench run the server. Measurements: docs/decisions/0013-server-flags.md.

/** Flags for Node. The last three let the server return memory after a flood. */
export const serverFlags = [
  // Limits the memory for short-lived objects to 3 × 8 MB instead of 3 × 32 MB.
  '--max-semi-space-size=8',
  // Otherwise V8 treats captures as long-lived, because they live until their batch is on disk. That costs a quarter of the rate until the next start.
  '--no-allocation-site-pretenuring',
  // The server starts a garbage collection itself.
  '--expose-gc',
  // V8 keeps free pages for 2 s instead of 8.
  '--memory-pool-timeout=2',
  // The server calls glibc by `node:ffi`, which is experimental.
  '--disable-warning=ExperimentalWarning',
];

/** Defaults for the server's environment, for glibc. Other systems ignore them. */
export const serverEnvironment = {
  // Two heaps for a dozen threads save 15 to 20 MB at the same rate. By default each thread has one and rarely returns its memory.
  MALLOC_ARENA_MAX: '2',
  // Bytes. Larger buffers go back to the system when they are freed, and smaller ones stay for the next body.
  MALLOC_MMAP_THRESHOLD_: '8388608',
  // Bytes that glibc keeps at the end of a heap, and gets at once. By default it returns and requests them many times a second.
  MALLOC_TRIM_THRESHOLD_: '16777216',
  MALLOC_TOP_PAD_: '1048576',
  // Asks for pages of 2 MB. With those of 4 KB, the first use of a new buffer of 25 MB can take the main thread half a second.
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};
