// Installs the packages of package-lock.json if they are missing or outdated. Safe to run in several processes at once.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { withLock } from './lock.mjs';
import { log, SetupError } from './log.mjs';
import { fromRoot, root } from './paths.mjs';

/** Silent if nothing is to do. @throws {SetupError} */
export async function ensureInstalled() {
  if (await isInstalled()) return;
  const onWait = () => log('Another process is installing the packages. Waiting for it.');
  await withLock(fromRoot('.cache', 'install.lock'), { onWait }, async () => {
    if (await isInstalled()) return;
    log('Installing the packages (npm ci). This takes a minute the first time.');
    // No package that we use needs its install script.
    await npm(['ci', '--include=dev', '--include=optional', '--ignore-scripts']);
  });
}

/** Compares the lockfile with the copy that npm writes into node_modules at the end of an installation. */
async function isInstalled() {
  const wanted = await readPackages(fromRoot('package-lock.json'));
  const found = await readPackages(fromRoot('node_modules', '.package-lock.json')).catch(() => ({}));
  return Object.entries(wanted).every(([path, entry]) => isInStep(path, entry, found[path]));
}

async function readPackages(path) {
  return JSON.parse(await readFile(path, 'utf8')).packages;
}

/** Optional packages of other platforms may be absent. */
function isInStep(path, wanted, found) {
  if (!path.includes('node_modules/')) return true;
  if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
  return found.version === wanted.version && found.integrity === wanted.integrity;
}

/**
 * Runs npm without output other than errors. Uses the Node that runs npm now, because `npm ci` removes the one in node_modules.
 * @param {string[]} args
 * @param {string} [cwd] the folder of the package
 * @throws {SetupError}
 */
export async function npm(args, cwd = root) {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env;
  const [file, ...first] = cli?.endsWith('.js') ? [node ?? process.execPath, cli] : ['npm'];
  const child = spawn(
    file,
    [...first, ...args, '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'],
    {
      cwd,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32' && file === 'npm',
    },
  );
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(-1));
    child.once('exit', resolve);
  });
  if (code !== 0) throw new SetupError(`npm ${args[0]} failed. See its message above, then run the command again.`);
}
