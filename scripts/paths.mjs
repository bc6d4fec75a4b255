// Paths inside the clone.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The clone's root folder. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Joins a path below the root. @param {string[]} parts */
export const fromRoot = (...parts) => join(root, ...parts);
