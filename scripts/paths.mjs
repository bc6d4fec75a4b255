// Paths inside the clone.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone's root folder. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Joins a path below the root. @param {string[]} parts */
export const fromRoot = (...parts) => join(root, ...parts);

/** The decoder for brotli with an output of the caller. The package does not export it: docs/decisions/0012-request-view-libraries.md. */
export const brotliDecoder = { 'brotli/dec/decode.js': fromRoot('node_modules', 'brotli', 'dec', 'decode.js') };
