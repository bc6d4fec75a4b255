/** See server-flags.mjs. */
export const serverFlags: readonly string[];
