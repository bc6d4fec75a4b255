#!/usr/bin/env node
// `creel` for Node 20 and later: runs with the Node from the packages, like the npm scripts.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { logError } from '../../scripts/log.mjs';
import { runForeground } from '../../scripts/run-foreground.mjs';
import { bundledNode } from '../../scripts/runtime.mjs';

try {
  const main = fileURLToPath(new URL('src/main.ts', import.meta.url));
  await runForeground(bundledNode(), [main, ...process.argv.slice(2)]);
} catch (error) {
  logError(error);
}
