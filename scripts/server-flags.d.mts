/** See server-flags.mjs. */
export const serverFlags: readonly string[];
/** See server-flags.mjs. */
export const serverEnvironment: Readonly<Record<string, string>>;
