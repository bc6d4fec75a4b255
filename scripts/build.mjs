// Builds the web app into packages/web/dist, if anything that goes into it has changed since.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.mjs';
import { at, root } from './places.mjs';
import { say, stopWith } from './say.mjs';

const dist = at('packages', 'web', 'dist');
const stampPath = join(dist, '.creel-build');
const sources = ['packages/web', 'packages/contract', 'vite.config.ts', 'package-lock.json', 'tsconfig.web.json'];
const ignored = new Set(['node_modules', 'dist', '.cache']);

/**
 * Builds the web app unless packages/web/dist already holds what its sources say.
 * @param {string} node the Node that runs the build
 * @returns {Promise<boolean>} whether something was built
 */
export async function buildIfStale(node, { force = false } = {}) {
  if (!existsSync(at('packages', 'web', 'index.html')) || (!force && (await isFresh()))) {
    return false;
  }
  const onWait = () => say('Another start is building the web app; waiting for it.');
  return await withLock(at('.cache', 'build.lock'), { onWait }, async () => {
    if (!force && (await isFresh())) {
      return false;
    }
    say('Building the web app.');
    await build(node, await hashOfSources());
    return true;
  });
}

async function isFresh() {
  const stamp = await readFile(stampPath, 'utf8').catch(() => '');
  return stamp !== '' && stamp === (await hashOfSources());
}

async function hashOfSources() {
  const hash = createHash('sha256');
  for (const path of (await Promise.all(sources.map((source) => filesBelow(at(source))))).flat()) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(await readFile(path))
      .update('\0');
  }
  return `${hash.digest('hex')}\n`;
}

async function filesBelow(path) {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (!entries) {
    return existsSync(path) ? [path] : [];
  }
  const kept = entries.filter((entry) => !ignored.has(entry.name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (await Promise.all(kept.map((entry) => below(join(path, entry.name), entry)))).flat();
}

const below = async (path, entry) => (entry.isDirectory() ? await filesBelow(path) : [path]);

/** Built aside and swapped in: a server that is running keeps a whole dist, and a build that fails leaves the old one. */
async function build(node, hash) {
  const aside = at('.cache', `web-build-${process.pid}`);
  try {
    await vite(node, aside);
    await writeFile(join(aside, '.creel-build'), hash);
    const old = at('.cache', `web-old-${process.pid}`);
    await mkdir(at('.cache'), { recursive: true });
    await rename(dist, old).catch(() => {});
    await rename(aside, dist);
    await rm(old, { recursive: true, force: true });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function vite(node, outDir) {
  const args = [at('node_modules', 'vite', 'bin', 'vite.js'), 'build', '--outDir', outDir, '--logLevel', 'warn'];
  const child = spawn(node, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stderr, { end: false });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) {
    stopWith('Building the web app failed. What Vite said stands above.');
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await buildIfStale(process.execPath, { force: process.argv.includes('--force') });
}
