// The programs of Creel. A clone runs the sources, except for the server, which is bundled first. The package has only bundles.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { SetupError } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { runForeground } from './run-foreground.mjs';
import { bundledNode } from './runtime.mjs';
import { serverEnvironment, serverFlags } from './server-flags.mjs';

const SERVER_HELP = `Usage: creel serve

Starts the server. It takes no options: environment variables configure it, such as PORT, HOST, DATA_DIR and DATABASE_URL.
The repository of Creel lists them all in docs/operations.md.
`;

/** If this process is killed, its program notices the end of the channel, and stops. */
const STDIO = ['inherit', 'inherit', 'inherit', 'ipc'];

/** Starts the server. In a clone, whatever is out of date is built first. @param {string[]} args */
export async function runServer(args) {
  if (args.some((arg) => arg === '--help' || arg === '-h')) return void process.stdout.write(SERVER_HELP);
  if (args.length > 0) throw new SetupError(`The server takes no options: “${args[0]}”. See: creel serve --help`, 2);
  const node = bundledNode();
  const build = fromRoot('scripts', 'build.ts');
  if (existsSync(build)) await runForeground(node, [build]);
  if (process.exitCode) return;
  // The compile cache halves the time of the second start. Variables that the user has set take precedence.
  const cache = existsSync(build) ? { NODE_COMPILE_CACHE: fromRoot('.cache', 'node') } : {};
  const env = { ...cache, ...serverEnvironment, ...process.env };
  await runForeground(node, [...serverFlags, fromRoot('packages', 'server', 'dist', 'main.js')], { env, stdio: STDIO });
}

/**
 * `creel`: `serve` or nothing starts the server, `admin` works on its database, and everything else is a client's command.
 * @param {string[]} args
 */
export async function runCreel([name = 'serve', ...rest]) {
  const [program] = rest;
  if (name === 'help' && (program === 'serve' || program === 'admin')) return runCreel([program, '--help']);
  if (name === 'serve') return runServer(rest);
  const [source, bundle, args] =
    name === 'admin'
      ? ['packages/server/src/admin/main.ts', 'packages/server/dist/admin.js', rest]
      : ['packages/cli/src/main.ts', 'packages/cli/dist/main.js', [name, ...rest]];
  const file = existsSync(fromRoot(source)) ? source : bundle;
  // npm starts scripts in the root folder, but users name files relative to their own.
  const cwd = process.env['INIT_CWD'] ?? process.cwd();
  await runForeground(bundledNode(), [fromRoot(file), ...args], { cwd, stdio: STDIO });
}
