import type { CapturedRequest } from '@creel/contract';
import { expect, test } from 'vitest';
import { sampleRequest } from '../../../fixtures/sample-request.ts';
import { CaptureFeed } from './capture-feed.ts';

/** A feed on a stubbed server, with a record of what it emits. */
function startFeed(given: { from: number; newFrom: number }) {
  const stored: CapturedRequest[] = [];
  const seen: (number | string)[] = [];
  const asked: string[] = [];
  let broken = false;
  const feed = new CaptureFeed({
    ...given,
    async *storedBetween(from, below = Number.POSITIVE_INFINITY) {
      asked.push(`${from}..${below}`);
      for (const request of stored) {
        if (broken) throw new Error('away');
        if (request.index >= from && request.index < below) yield request;
      }
    },
    onCapture: async ({ index }) => void seen.push(index),
    onDeleted: async (first, last) => void seen.push(`${first}-${last} gone`),
  });
  const store = (...indexes: number[]) => stored.push(...indexes.map((index) => sampleRequest(index)));
  const take = (...indexes: number[]) => feed.take(indexes.map((index) => sampleRequest(index)));
  return { feed, seen, asked, store, take, breakIt: (is: boolean) => (broken = is) };
}

test('emits new captures once, without calls', async () => {
  const { take, seen, asked } = startFeed({ from: 3, newFrom: 3 });
  await take(1, 2, 3);
  await take(4);
  await take(4);
  await take(2, 3, 4, 5);
  expect(seen).toEqual([3, 4, 5]);
  expect(asked).toEqual([]);
});

test('fetches missing captures before it emits new ones', async () => {
  const { take, seen, asked, store } = startFeed({ from: 0, newFrom: 0 });
  store(0, 1, 2, 3, 4);
  await take(2);
  await take(3, 4);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(asked).toEqual(['0..2']);
});

test('reports deleted captures only if they arrived after the start', async () => {
  const { take, seen, store } = startFeed({ from: 0, newFrom: 4 });
  store(1, 2, 5);
  await take(8, 9);
  expect(seen).toEqual([1, 2, '4-4 gone', 5, '6-7 gone', 8, 9]);
});

test('loses nothing when fetching fails in the middle', async () => {
  const { take, seen, store, breakIt } = startFeed({ from: 0, newFrom: 0 });
  store(0, 1, 2);
  await take(0);
  breakIt(true);
  await expect(take(3)).rejects.toThrow('away');
  expect(seen).toEqual([0]);
  breakIt(false);
  store(3);
  await take(4);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
});

test('catches up without a new capture', async () => {
  const { feed, seen, store } = startFeed({ from: 1, newFrom: 1 });
  store(0, 1, 2);
  await feed.catchUp();
  await feed.catchUp();
  expect(seen).toEqual([1, 2]);
});
