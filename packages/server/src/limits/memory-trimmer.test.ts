import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { MemoryTrimmer } from './memory-trimmer.ts';

const MB = 1_000_000;
let size = 0;
let utilization = 0;
let collections = 0;
/** The sizes of the heap after the next collections. */
let next: number[] = [];
let trimmer: MemoryTrimmer;

beforeEach(() => {
  [size, utilization, collections, next] = [45 * MB, 0.1, 0, []];
  trimmer = new MemoryTrimmer({
    worthBytes: 40 * MB,
    size: () => size,
    trim: () => {
      collections += 1;
      size = next.shift() ?? size;
    },
  });
});

test('collects after a flood, until a collection gains little', () => {
  [size, utilization] = [150 * MB, 1];
  trimmer.check(utilization);
  expect(collections).toBe(0);
  utilization = 0.1;
  next = [80 * MB, 46 * MB];
  for (let nth = 0; nth < 10; nth += 1) trimmer.check(utilization);
  expect([collections, size]).toEqual([3, 46 * MB]);
});

test('collects what stays in use again at growing intervals, and at once when it has grown', () => {
  size = 150 * MB;
  const trims: number[] = [];
  for (let nth = 0; nth < 35; nth += 1) {
    const before = collections;
    trimmer.check(utilization);
    if (collections > before) trims.push(nth);
  }
  expect(trims).toEqual([1, 5, 13, 29]);
  size = 189 * MB;
  for (let nth = 0; nth < 2; nth += 1) trimmer.check(utilization);
  expect(collections).toBe(4);
  size = 190 * MB;
  trimmer.check(utilization);
  expect(collections).toBe(5);
});

test('collects what was in use and is garbage now', () => {
  size = 150 * MB;
  next = [150 * MB, 150 * MB, 46 * MB];
  for (let nth = 0; nth < 20; nth += 1) trimmer.check(utilization);
  expect([collections, size]).toEqual([4, 46 * MB]);
});

test('notices when less is in use', () => {
  for (size of [150 * MB, 45 * MB, 100 * MB]) for (let nth = 0; nth < 2; nth += 1) trimmer.check(utilization);
  expect(collections).toBe(2);
});

test('collects nothing while the heap hardly grows', () => {
  for (size = 45 * MB; size < 85 * MB; size += MB) trimmer.check(utilization);
  expect(collections).toBe(0);
});

test('does not collect while the heap changes, because the flood lasts', () => {
  for (let nth = 0; nth < 10; nth += 1) {
    size = (nth % 2 === 0 ? 200 : 150) * MB;
    trimmer.check(utilization);
  }
  expect(collections).toBe(0);
  for (let nth = 0; nth < 2; nth += 1) trimmer.check(utilization);
  expect(collections).toBe(1);
});

/** Fragments glibc's heap: frees 100 MB in blocks of 60 KiB, and keeps every fiftieth. */
const FLOOD = `
  import { setTimeout as sleep } from 'node:timers/promises';
  import { trimMemoryAfterFloods } from '${import.meta.resolve('./memory-trimmer.ts')}';
  const before = process.memoryUsage.rss();
  const isTrimmed = trimMemoryAfterFloods();
  const blocks = Array.from({ length: 1700 }, () => Buffer.allocUnsafeSlow(60 * 1024).fill(1));
  blocks.forEach(({ buffer }, nth) => nth % 50 === 0 || buffer.transfer(0));
  const flooded = process.memoryUsage.rss();
  while (isTrimmed && process.memoryUsage.rss() - before > (flooded - before) / 4) await sleep(20);
  console.log(isTrimmed, Math.round((flooded - before) / 1e6) > 80);
`;

test('returns what glibc keeps of freed memory', async () => {
  const options = { timeout: 30_000 };
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', FLOOD], options);
  expect((await run).stdout).toBe(process.platform === 'linux' ? 'true true\n' : 'false true\n');
});
