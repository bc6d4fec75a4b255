// A lock between processes: a file with the owner's process id. The owner touches it every two seconds, so that other
// processes can detect and remove the lock of a process that was killed.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from './log.mjs';

const HEARTBEAT_MS = 2_000;
const MAX_SILENCE_MS = 30_000;

/**
 * Runs `work` while it holds the lock file `path`.
 * @template T
 * @param {string} path
 * @param {{ onWait?: () => void }} options `onWait` is called once if another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @throws {SetupError} for a folder that can't be written, such as a clone of another user
 */
export async function withLock(path, { onWait }, work) {
  await mkdir(dirname(path), { recursive: true }).catch(explain);
  let isWaiting = false;
  while (!(await create(path))) {
    if (await removeIfAbandoned(path)) continue;
    if (!isWaiting) onWait?.();
    isWaiting = true;
    await sleep(100);
  }
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function create(path) {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    return explain(error);
  }
}

function explain(error) {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
  throw new SetupError(
    `${error.path} can't be written (${error.code}). Run the command as the user who owns the folder.`,
  );
}

/** Renames the file and checks it again before removal: another process may have replaced it in between. */
async function removeIfAbandoned(path) {
  if (!(await isAbandoned(path))) return false;
  const moved = `${path}.${randomUUID()}`;
  try {
    await rename(path, moved);
  } catch {
    return true;
  }
  if (await isAbandoned(moved)) await rm(moved, { force: true });
  else await rename(moved, path);
  return true;
}

async function isAbandoned(path) {
  try {
    const ageMs = Date.now() - (await stat(path)).mtimeMs;
    const owner = Number(await readFile(path, 'utf8'));
    return ageMs > MAX_SILENCE_MS || (owner > 0 && !isAlive(owner));
  } catch {
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
