// Entry point of every npm script: installs missing packages and runs the script with the Node from the packages.
// Plain JavaScript without dependencies, because it runs before the installation and on Node 20.
import process from 'node:process';
import { ensureInstalled } from './install.mjs';
import { logError, SetupError } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { runForeground } from './run-foreground.mjs';
import { bundledNode } from './runtime.mjs';
import { serverEnvironment, serverFlags } from './server-flags.mjs';

/** Arguments for Node, by npm script. */
const commands = {
  start: [...serverFlags, 'packages/server/dist/main.js'],
  dev: ['scripts/dev.ts'],
  build: ['scripts/build.ts', '--force'],
  check: ['scripts/check.ts'],
  test: ['scripts/test.ts'],
  e2e: ['scripts/e2e.ts', 'journeys'],
  screens: ['scripts/e2e.ts', 'screens'],
  bench: ['bench/main.ts'],
  attack: ['bench/attack/main.ts'],
  fixtures: ['fixtures/send.ts'],
  creel: ['packages/cli/src/main.ts'],
  'power-cut': ['scripts/power-cut/main.ts'],
};

async function main() {
  const [name = '', ...rest] = process.argv.slice(2);
  if (!Object.hasOwn(commands, name)) throw new SetupError(`Usage: npm run ${Object.keys(commands).join(' | ')}`);
  await ensureInstalled();
  const node = bundledNode();
  if (name === 'start') {
    await runForeground(node, [fromRoot('scripts', 'build.ts')]);
    if (process.exitCode) return;
  }
  const args = commands[name].map((arg) => (arg.startsWith('--') || !arg.includes('/') ? arg : fromRoot(arg)));
  // npm starts scripts in the root folder, but `creel` resolves file names in the user's folder.
  const cwd = name === 'creel' ? process.env['INIT_CWD'] : undefined;
  await runForeground(node, [...args, ...rest], { env: environment(name), cwd });
}

/** The compile cache halves the time of the second start. Variables that the user has set take precedence. */
function environment(name) {
  if (name !== 'start') return process.env;
  return { NODE_COMPILE_CACHE: fromRoot('.cache', 'node'), ...serverEnvironment, ...process.env };
}

main().catch(logError);
