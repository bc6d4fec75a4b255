import { readFileSync } from 'node:fs';
import { z } from 'zod';

const packageJson = readFileSync(new URL('../package.json', import.meta.url), 'utf8');

/** This build's version, from the package. */
export const VERSION: string = z.object({ version: z.string() }).parse(JSON.parse(packageJson)).version;
