// Entry point of every npm script: installs missing packages and runs the script with the Node from the packages.
// Plain JavaScript without dependencies, because it runs before the installation and on Node 20.
import process from 'node:process';
import { ensureInstalled } from './install.mjs';
import { logError, SetupError } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { runCreel, runServer } from './programs.mjs';
import { runForeground } from './run-foreground.mjs';
import { bundledNode } from './runtime.mjs';

/** Arguments for Node, by npm script. */
const scripts = {
  dev: ['scripts/dev.ts'],
  build: ['scripts/build.ts', '--force'],
  check: ['scripts/check.ts'],
  test: ['scripts/test.ts'],
  e2e: ['scripts/e2e.ts', 'journeys'],
  screens: ['scripts/e2e.ts', 'screens'],
  bench: ['bench/main.ts'],
  attack: ['bench/attack/main.ts'],
  chaos: ['bench/chaos/main.ts'],
  upgrade: ['bench/upgrade/main.ts'],
  fixtures: ['fixtures/send.ts'],
  'power-cut': ['scripts/power-cut/main.ts'],
};
const programs = { start: runServer, creel: runCreel };

async function main() {
  const [name = '', ...rest] = process.argv.slice(2);
  const names = [...Object.keys(programs), ...Object.keys(scripts)];
  if (!names.includes(name)) throw new SetupError(`Usage: npm run ${names.join(' | ')}`);
  await ensureInstalled();
  if (Object.hasOwn(programs, name)) return programs[name](rest);
  const [file, ...args] = scripts[name];
  await runForeground(bundledNode(), [fromRoot(file), ...args, ...rest]);
}

main().catch(logError);
