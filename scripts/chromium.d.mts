/** See chromium.mjs. */
export const browserArguments: string[];
export function findChromium(options?: { preferShell?: boolean }): Promise<string>;
