import { expect, test } from 'vitest';
import { FlowQueue } from './fair-queue.ts';

test('an owner with one item does not wait for a round of busy owners', () => {
  const queue = new FlowQueue<string, string>();
  const busy = Array.from({ length: 1000 }, (_, nth) => `busy ${nth}`);
  for (const owner of busy) for (const item of ['first', 'second', 'third']) queue.push(owner, `${owner}: ${item}`);
  for (let nth = 0; nth < 1500; nth += 1) queue.shift();
  queue.push('rare', 'rare');
  expect([queue.shift(), queue.shift()]).toContain('rare');
});

test('owners take turns, each in its own order', () => {
  const queue = new FlowQueue<string, number>();
  for (const nth of [1, 2, 3]) queue.push('a', nth);
  for (const nth of [10, 11]) queue.push('b', nth);
  queue.push('c', 20);
  const taken = Array.from({ length: 7 }, () => queue.shift());
  expect(taken).toEqual([1, 10, 20, 2, 11, 3, undefined]);
  expect(queue.size).toBe(0);
});

test('an owner is fresh again only after a round of the others', () => {
  const queue = new FlowQueue<string, string>();
  for (const owner of ['x', 'y']) for (let nth = 0; nth < 10; nth += 1) queue.push(owner, owner);
  queue.push('again', 'again');
  const taken: (string | undefined)[] = [];
  for (let nth = 0; nth < 9; nth += 1) {
    const item = queue.shift();
    taken.push(item);
    if (item === 'again') queue.push('again', 'again');
  }
  expect(taken).toEqual(['x', 'y', 'again', 'x', 'y', 'again', 'x', 'y', 'again']);
});

test('busy owners have a share while new owners keep coming', () => {
  const queue = new FlowQueue<string, string>();
  for (const item of ['first', 'second', 'third']) queue.push('busy', item);
  const taken: (string | undefined)[] = [];
  for (let nth = 0; nth < 12; nth += 1) {
    queue.push(`new ${nth}`, 'new');
    taken.push(queue.shift());
  }
  expect(taken.filter((item) => item !== 'new')).toEqual(['first', 'second', 'third']);
});
