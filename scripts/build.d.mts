/** See build.mjs. */
export function buildIfStale(node: string, options?: { force?: boolean }): Promise<boolean>;
