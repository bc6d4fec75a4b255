import { beforeEach, expect, test } from 'vitest';
import { HeapTrimmer } from './heap-trimmer.ts';

const MB = 1_000_000;
let size = 0;
let utilization = 0;
let collections = 0;
/** The size of the heap after each collection, as far as they are known in advance. */
let next: number[] = [];
let trimmer: HeapTrimmer;

beforeEach(() => {
  [size, utilization, collections, next] = [45 * MB, 0.1, 0, []];
  trimmer = new HeapTrimmer({
    utilization: () => utilization,
    size: () => size,
    collect: () => {
      collections += 1;
      size = next.shift() ?? size;
    },
  });
});

test('collects after a flood, until a collection gains little', () => {
  [size, utilization] = [150 * MB, 1];
  trimmer.check();
  expect(collections).toBe(0);
  utilization = 0.1;
  next = [80 * MB, 46 * MB];
  for (let nth = 0; nth < 10; nth += 1) trimmer.check();
  expect([collections, size]).toEqual([3, 46 * MB]);
});

test('does not collect again what is in use', () => {
  size = 150 * MB;
  next = [148 * MB];
  for (let nth = 0; nth < 10; nth += 1) trimmer.check();
  expect(collections).toBe(1);
  size = 187 * MB;
  trimmer.check();
  expect(collections).toBe(1);
  size = 188 * MB;
  trimmer.check();
  expect(collections).toBe(2);
});

test('notices when less is in use', () => {
  for (size of [150 * MB, 45 * MB, 100 * MB]) for (let nth = 0; nth < 2; nth += 1) trimmer.check();
  expect(collections).toBe(2);
});

test('collects nothing while the heap hardly grows', () => {
  for (size = 45 * MB; size < 85 * MB; size += MB) trimmer.check();
  expect(collections).toBe(0);
});

test('does not collect while the heap changes, because the flood lasts', () => {
  for (let nth = 0; nth < 10; nth += 1) {
    size = (nth % 2 === 0 ? 200 : 150) * MB;
    trimmer.check();
  }
  expect(collections).toBe(0);
  for (let nth = 0; nth < 2; nth += 1) trimmer.check();
  expect(collections).toBe(1);
});
