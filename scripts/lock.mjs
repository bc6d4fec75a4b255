// One at a time, across processes: a folder that only one of them can create. Its holder touches it every two seconds,
// so a holder that was killed is noticed and its lock is taken over.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 2_000;
const staleAfterMs = 30_000;

/**
 * Runs `work` while holding the lock folder `path`.
 * @template T
 * @param {string} path
 * @param {{ onWait?: () => void }} options `onWait` is called once when somebody else holds the lock.
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, { onWait }, work) {
  await mkdir(dirname(path), { recursive: true });
  for (let tries = 0; !(await take(path)); tries += 1) {
    // The first failure may be a dead holder's lock, which the next try finds gone: nobody to wait for.
    if (tries === 1) {
      onWait?.();
    }
    await dropIfStale(path);
    if (tries > 0) {
      await sleep(100);
    }
  }
  const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(path, { recursive: true, force: true });
  }
}

async function take(path) {
  try {
    await mkdir(path);
  } catch (error) {
    if (error.code === 'EEXIST') {
      return false;
    }
    throw error;
  }
  await writeFile(join(path, 'holder'), String(process.pid)).catch(() => {});
  return true;
}

async function dropIfStale(path) {
  if (!(await isStale(path))) {
    return;
  }
  // Renamed before it is removed, and looked at again: of two that wait, only one may drop it, and never a fresh one.
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if (!(await isStale(aside))) {
    await rename(aside, path).catch(() => {});
    return;
  }
  await rm(aside, { recursive: true, force: true });
}

async function isStale(path) {
  try {
    const age = Date.now() - (await stat(path)).mtimeMs;
    const holder = Number(await readFile(join(path, 'holder'), 'utf8').catch(() => ''));
    return age > staleAfterMs || (holder > 0 && !isAlive(holder));
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
