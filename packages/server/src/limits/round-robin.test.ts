import { expect, test } from 'vitest';
import { RoundRobin } from './fair-queue.ts';

test('owners take turns, each in its own order', () => {
  const queue = new RoundRobin<string, number>();
  for (const nth of [1, 2, 3]) queue.push('a', nth);
  queue.push('b', 10);
  queue.push('c', 20);
  queue.push('b', 11);
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('nobody')]).toEqual([6, 3, 0]);
  expect(Array.from({ length: 7 }, () => queue.shift())).toEqual([1, 10, 20, 2, 11, 3, undefined]);
  expect(queue.size).toBe(0);
});

test('removing and adding in turn keeps the order', () => {
  const queue = new RoundRobin<string, number>();
  const taken: (number | undefined)[] = [];
  for (let nth = 0; nth < 1000; nth += 1) {
    queue.push('a', nth);
    if (nth % 3 !== 0) taken.push(queue.shift());
  }
  while (queue.size > 0) taken.push(queue.shift());
  expect(taken).toEqual(Array.from({ length: 1000 }, (_, nth) => nth));
});

test('an owner whose oldest item does not fit keeps its place and its order', () => {
  const queue = new RoundRobin<string, number>();
  for (const nth of [100, 1]) queue.push('a', nth);
  for (const nth of [10, 11]) queue.push('b', nth);
  const small = (item: number): boolean => item < 50;
  expect([queue.shift(small), queue.shift(small), queue.shift(small)]).toEqual([10, 11, undefined]);
  expect([queue.shift(), queue.shift(small), queue.size]).toEqual([100, 1, 0]);
});
