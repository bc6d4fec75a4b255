#!/usr/bin/env node
// `creel` for any Node from 20 on: the one that came with the packages runs the rest, as with every npm script.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runForeground } from '../../scripts/run-foreground.mjs';
import { bundledNode } from '../../scripts/runtime.mjs';

try {
  const main = fileURLToPath(new URL('src/main.ts', import.meta.url));
  await runForeground(bundledNode(), [main, ...process.argv.slice(2)]);
} catch (error) {
  process.stderr.write(`${error.plain ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
