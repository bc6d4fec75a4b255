import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.mjs';
import { SetupError } from './log.mjs';

let folder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'creel-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('only one of many callers holds the lock at a time', async () => {
  let inside = 0;
  let max = 0;
  const work = async () => {
    inside += 1;
    max = Math.max(max, inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 12 }, () => withLock(join(folder, 'lock'), {}, work)));
  expect(max).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

test('a waiting caller is notified once', async () => {
  const calls = [];
  const [begun, held] = [Promise.withResolvers(), Promise.withResolvers()];
  const work = () => {
    begun.resolve();
    return held.promise;
  };
  const first = withLock(join(folder, 'lock'), { onWait: () => calls.push('first') }, work);
  await begun.promise;
  const onWait = () => {
    calls.push('second');
    // It tries again several times before.
    setTimeout(held.resolve, 250);
  };
  await withLock(join(folder, 'lock'), { onWait }, async () => {});
  await first;
  expect(calls).toEqual(['second']);
});

test('failed work releases the lock', async () => {
  const failing = withLock(join(folder, 'lock'), {}, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  await expect(withLock(join(folder, 'lock'), {}, async () => 'mine')).resolves.toBe('mine');
});

test.each(['lock', 'new/lock'])('%s in a folder of another user says what to do', async (path) => {
  await chmod(folder, 0o500);
  // Root may write everywhere.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid(65_534);
  const error = await withLock(join(folder, path), {}, async () => {})
    .catch((thrown) => thrown)
    .finally(() => isRoot && process.seteuid(0));
  expect(error).toBeInstanceOf(SetupError);
  expect(error.message).toMatch(
    /^\S+ can't be written \(EACCES\)\. Run the command as the user who owns the folder\.$/,
  );
});

test('the lock of a killed process is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(join(folder, 'lock'), String(pid));
  const calls = [];
  await withLock(join(folder, 'lock'), { onWait: () => calls.push('waits') }, async () => calls.push('mine'));
  expect(calls).toEqual(['mine']);
});
