import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.mjs';

let folder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'creel-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('of many that want it, one at a time has it', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 12 }, () => withLock(join(folder, 'lock'), {}, work)));
  expect(most).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

test('who waits is told once', async () => {
  const told = [];
  const slow = () => new Promise((resolve) => setTimeout(resolve, 250));
  const first = withLock(join(folder, 'lock'), { onWait: () => told.push('first') }, slow);
  await new Promise((resolve) => setTimeout(resolve, 30));
  await withLock(join(folder, 'lock'), { onWait: () => told.push('second') }, async () => {});
  await first;
  expect(told).toEqual(['second']);
});

test('work that fails gives it back', async () => {
  const failing = withLock(join(folder, 'lock'), {}, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  await expect(withLock(join(folder, 'lock'), {}, async () => 'mine')).resolves.toBe('mine');
});

test('the lock of a holder that was killed is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await mkdir(join(folder, 'lock'));
  await writeFile(join(folder, 'lock', 'holder'), String(pid));
  const told = [];
  await withLock(join(folder, 'lock'), { onWait: () => told.push('waits') }, async () => told.push('mine'));
  expect(told).toEqual(['mine']);
});
