// Builds the web app and the server's bundle, each into its package's dist, if anything that goes into it has changed since.
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

const ignored = new Set(['node_modules', 'dist', '.cache']);

/** What is built: from which sources, into which folder, by which program. */
const builds = [
  {
    what: 'the web app',
    entry: at('packages', 'web', 'index.html'),
    dist: at('packages', 'web', 'dist'),
    sources: [
      'packages/web',
      'packages/contract',
      'vite.config.ts',
      'scripts/precompress.ts',
      'package-lock.json',
      'tsconfig.web.json',
    ],
    run: (outDir) => [at('node_modules', 'vite', 'bin', 'vite.js'), 'build', '--outDir', outDir, '--logLevel', 'warn'],
  },
  {
    what: 'the server',
    entry: at('packages', 'server', 'src', 'main.ts'),
    dist: at('packages', 'server', 'dist'),
    sources: ['packages/server', 'packages/contract', 'scripts/build-server.mjs', 'package-lock.json'],
    run: (outDir) => [at('scripts', 'build-server.mjs'), outDir],
  },
];

/**
 * Builds whatever does not hold yet what its sources say.
 * @param {string} node the Node that runs the builds
 * @returns {Promise<boolean>} whether something was built
 */
export async function buildIfStale(node, { force = false } = {}) {
  let built = false;
  for (const build of builds) {
    built = (await buildOne(node, build, force)) || built;
  }
  return built;
}

async function buildOne(node, build, force) {
  if (!existsSync(build.entry) || (!force && (await isFresh(build)))) {
    return false;
  }
  const onWait = () => say(`Another start is building ${build.what}; waiting for it.`);
  return await withLock(at('.cache', 'build.lock'), { onWait }, async () => {
    if (!force && (await isFresh(build))) {
      return false;
    }
    say(`Building ${build.what}.`);
    await buildAside(node, build, await hashOfSources(build));
    return true;
  });
}

const stampOf = (dist) => join(dist, '.creel-build');

async function isFresh(build) {
  const stamp = await readFile(stampOf(build.dist), 'utf8').catch(() => '');
  return stamp !== '' && stamp === (await hashOfSources(build));
}

async function hashOfSources({ sources }) {
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
async function buildAside(node, build, hash) {
  const aside = at('.cache', `build-${process.pid}`);
  try {
    await run(node, build, aside);
    await writeFile(stampOf(aside), hash);
    const old = at('.cache', `old-${process.pid}`);
    await mkdir(at('.cache'), { recursive: true });
    await rename(build.dist, old).catch(() => {});
    await rename(aside, build.dist);
    await rm(old, { recursive: true, force: true });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function run(node, build, outDir) {
  const child = spawn(node, build.run(outDir), { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stderr, { end: false });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) {
    stopWith(`Building ${build.what} failed. Why stands above.`);
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await buildIfStale(process.execPath, { force: process.argv.includes('--force') });
}
