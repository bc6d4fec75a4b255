/** See chromium.mjs. */
export const browserArguments: string[];
export function findChromium(): Promise<string>;
