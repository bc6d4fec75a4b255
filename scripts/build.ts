// Builds the web app, the server and the command line into the `dist` folders of their packages if their sources have changed.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { withLock } from './lock.mjs';
import { log, logError, SetupError } from './log.mjs';
import { fromRoot, root } from './paths.mjs';
import { runChild } from './run-child.ts';

const IGNORED = new Set(['node_modules', 'dist', '.cache']);

interface Build {
  readonly name: string;
  readonly dist: string;
  /** Files and folders whose contents decide whether the build is stale. */
  readonly sources: readonly string[];
  readonly command: (outDir: string) => readonly string[];
}

const builds: readonly Build[] = [
  {
    name: 'the web app',
    dist: fromRoot('packages', 'web', 'dist'),
    sources: [
      'packages/web',
      'packages/contract',
      'vite.config.ts',
      'scripts/precompress.ts',
      'package-lock.json',
      'tsconfig.base.json',
    ],
    command: (outDir) => ['node_modules/vite/bin/vite.js', 'build', '--outDir', outDir, '--logLevel', 'warn'],
  },
  {
    name: 'the server',
    dist: fromRoot('packages', 'server', 'dist'),
    sources: ['packages/server', 'packages/contract', 'scripts/bundle.ts', 'scripts/licenses.ts', 'package-lock.json'],
    command: (outDir) => ['scripts/bundle.ts', 'server', outDir],
  },
  {
    name: 'the command line',
    dist: fromRoot('packages', 'cli', 'dist'),
    sources: ['packages/cli', 'packages/contract', 'scripts/bundle.ts', 'package-lock.json'],
    command: (outDir) => ['scripts/bundle.ts', 'cli', outDir],
  },
];

/** @throws SetupError with the output of a build that failed */
export async function buildIfStale({ force = false } = {}): Promise<void> {
  for (const build of builds) {
    if (!force && (await isFresh(build))) continue;
    const onWait = () => log(`Another process is building ${build.name}. Waiting for it.`);
    await withLock(fromRoot('.cache', 'build.lock'), { onWait }, async () => {
      if (!force && (await isFresh(build))) return;
      log(`Building ${build.name}.`);
      await runBuild(build);
    });
  }
}

const hashFile = (dist: string): string => join(dist, '.creel-build');

async function isFresh({ dist, sources }: Build): Promise<boolean> {
  const hash = await readFile(hashFile(dist), 'utf8').catch(() => undefined);
  return hash !== undefined && hash === (await hashSources(sources));
}

async function hashSources(sources: readonly string[]): Promise<string> {
  const files = await Promise.all(sources.map((source) => listFiles(fromRoot(source))));
  const hash = createHash('sha256');
  for (const file of files.flat())
    hash
      .update(`${relative(root, file)}\0`)
      .update(await readFile(file))
      .update('\0');
  return `${hash.digest('hex')}\n`;
}

async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return existsSync(path) ? [path] : [];
  const kept = entries.filter(({ name }) => !IGNORED.has(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const files = kept.map((entry) => {
    const child = join(path, entry.name);
    return entry.isDirectory() ? listFiles(child) : [child];
  });
  return (await Promise.all(files)).flat();
}

/** Builds into a temporary folder, so that a running server and a failed build keep the previous files. */
async function runBuild({ name, dist, sources, command }: Build): Promise<void> {
  const outDir = fromRoot('.cache', `build-${process.pid}`);
  const previous = fromRoot('.cache', `previous-${process.pid}`);
  try {
    const hash = await hashSources(sources);
    // Also if a test builds, whose NODE_ENV would make a development build of the web app.
    const env = { ...process.env, NODE_ENV: 'production' };
    const { code, output } = await runChild(process.execPath, command(outDir), { env });
    if (code !== 0) throw new SetupError(`Building ${name} failed:\n${output}`);
    await writeFile(hashFile(outDir), hash);
    await mkdir(fromRoot('.cache'), { recursive: true });
    await rename(dist, previous).catch(() => {});
    await rename(outDir, dist);
  } finally {
    await rm(outDir, { recursive: true, force: true });
    await rm(previous, { recursive: true, force: true });
  }
}

if (import.meta.main) await buildIfStale({ force: process.argv.includes('--force') }).catch(logError);
