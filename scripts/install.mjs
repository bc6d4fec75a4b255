// Brings node_modules in step with package-lock.json, once, whoever else is starting at the same time.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { withLock } from './lock.mjs';
import { at, root } from './places.mjs';
import { say, stopWith } from './say.mjs';

const stampPath = at('node_modules', '.creel-install');

/** Installs the packages if they are missing or the lockfile moved on. Says so in one line, else says nothing. */
export async function ensureInstalled() {
  if (await isInstalled()) {
    return;
  }
  const onWait = () => say('Another start is installing the packages; waiting for it.');
  await withLock(at('.cache', 'install.lock'), { onWait }, async () => {
    if (!(await isInstalled())) {
      say('Installing the packages (npm ci); this takes a minute the first time.');
      await rm(stampPath, { force: true });
      await npmCi();
      await writeFile(stampPath, await wantedStamp());
    }
  });
}

async function isInstalled() {
  const wanted = await wantedStamp();
  if ((await readFile(stampPath, 'utf8').catch(() => '')) === wanted) {
    return true;
  }
  if (!(await matchesLockfile())) {
    return false;
  }
  // Somebody ran npm themselves and everything is as the lockfile says: remember that.
  await writeFile(stampPath, wanted).catch(() => {});
  return true;
}

async function wantedStamp() {
  const lockfile = await readFile(at('package-lock.json')).catch(() => stopWith('package-lock.json is missing.'));
  return `${process.platform}-${process.arch} ${createHash('sha256').update(lockfile).digest('hex')}\n`;
}

/** npm keeps its own account of what it installed; a package that is optional may be absent (another platform's). */
async function matchesLockfile() {
  const wanted = JSON.parse(await readFile(at('package-lock.json'), 'utf8')).packages;
  const hidden = await readFile(at('node_modules', '.package-lock.json'), 'utf8').catch(() => '{}');
  const found = JSON.parse(hidden).packages;
  return found !== undefined && Object.entries(wanted).every(([path, entry]) => isMet(path, entry, found[path]));
}

function isMet(path, wanted, found) {
  if (!path.includes('node_modules/')) {
    return true;
  }
  if (found === undefined) {
    return wanted.optional === true || wanted.devOptional === true;
  }
  return found.version === wanted.version && found.integrity === wanted.integrity;
}

/** No install script is needed by anything we use, so none runs: the same on npm 10, which knows no `allowScripts`. */
async function npmCi() {
  const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  const [file, ...first] = npmCommand();
  const child = spawn(file, [...first, ...args, '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32' && file === 'npm',
  });
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(-1));
    child.once('exit', (exitCode) => resolve(exitCode ?? -1));
  });
  if (code !== 0) {
    stopWith(
      'Installing the packages failed. What npm said stands above; run the same command again when it is mended.',
    );
  }
}

/** Under npm its own Node is used: ours may be the one inside the node_modules that `npm ci` is about to remove. */
export function npmCommand() {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env;
  return cli?.endsWith('.js') ? [node ?? process.execPath, cli] : ['npm'];
}
