// The one door to every npm script: installs what is missing, picks the Node that runs Creel, then gets out of the way.
// Plain JavaScript without dependencies, because it runs before anything is installed and on Nodes as old as 20.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { at } from './places.mjs';
import { bundledNode } from './runtime.mjs';
import { runForeground } from './run-foreground.mjs';
import { say, stopWith } from './say.mjs';
import { serverEnvironment, serverFlags } from './server-flags.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What each npm script runs, as arguments for the bundled Node. */
const commands = {
  start: [...serverFlags, here('../packages/server/dist/main.js')],
  dev: [here('dev.mjs')],
  build: [here('build.mjs'), '--force'],
  check: [here('check.mjs')],
  test: [here('test.mjs')],
  e2e: [here('e2e.mjs')],
  screens: [here('screens.mjs')],
  bench: [here('../bench/main.ts')],
  attack: [here('../bench/attack/main.ts')],
  fixtures: [here('../fixtures/send.ts')],
  creel: [here('../packages/cli/src/main.ts')],
  'power-cut': [here('power-cut/main.ts')],
};

async function main() {
  const [name, ...rest] = process.argv.slice(2);
  const script = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (!script) {
    stopWith(`Say what to do: npm run ${Object.keys(commands).join(' | ')}.`);
  }
  await ensureInstalled();
  const node = bundledNode();
  if (name === 'start') {
    const { buildIfStale } = await import('./build.mjs');
    await buildIfStale(node);
  }
  await runForeground(node, [...script, ...rest], { env: environment(name), cwd: folder(name) });
}

/** The server's compiled code is kept, which halves the time to the second start. Whoever has chosen a place keeps it. */
function environment(name) {
  if (name !== 'start') return process.env;
  return { NODE_COMPILE_CACHE: at('.cache', 'node'), ...serverEnvironment, ...process.env };
}

/** npm runs scripts in the root folder; a file that `creel` is told to write belongs where the person stands. */
function folder(name) {
  return name === 'creel' ? process.env['INIT_CWD'] : undefined;
}

main().catch((error) => {
  say(error instanceof Error && error.plain ? error.message : (error?.stack ?? String(error)));
  process.exitCode = 1;
});
