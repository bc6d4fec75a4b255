// How the server is run, by `npm start` and by the bench.

/**
 * Flags for the server's Node; measurements in docs/decisions/0013-server-flags.md.
 *
 * Without the limit V8 lets what lives shortly grow to three times 32 MB before it looks, which is most of the memory that the server has
 * under load, for no gain: little of it outlives a look, so that looking more often costs next to nothing. And what a capture needs lives until its batch is on disk: if V8 happens to look in such a moment,
 * soon after the start, it takes all of that for long-lived from then on, and every request costs a quarter more until the next start.
 */
export const serverFlags = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring'];

/**
 * What the server's process finds in its environment unless it is set there. glibc gives every thread a heap of its own and hardly ever
 * takes memory back from one for another; two heaps for a dozen threads are 15 to 20 MB less, at the same rate. Other systems ignore it.
 */
export const serverEnvironment = { MALLOC_ARENA_MAX: '2' };
