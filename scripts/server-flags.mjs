// How the server is run, by `npm start` and by the bench.

/**
 * Flags for the server's Node. Without the limit V8 lets what lives shortly grow to three times 32 MB before it looks, which is most of the
 * memory that the server has under load, for no measurable gain.
 */
export const serverFlags = ['--max-semi-space-size=16'];
