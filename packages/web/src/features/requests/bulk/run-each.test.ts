import { expect, test } from 'vitest';
import { runEach } from './run-each.ts';

const tick = (): Promise<void> => Promise.resolve();

test('every item runs once, failures are returned, progress counts both', async () => {
  const ran: number[] = [];
  const progress: number[] = [];
  const result = await runEach(
    [1, 2, 3, 4, 5, 6, 7],
    async (item) => {
      ran.push(item);
      await tick();
      if (item % 3 === 0) throw new Error(String(item));
    },
    { onProgress: (done) => progress.push(done) },
  );
  expect(ran).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(result.done).toBe(7);
  expect(result.failed.map(({ item }) => item)).toEqual([3, 6]);
  expect(result.unstarted).toEqual([]);
});

test('after an abort or a fatal error, nothing more is started', async () => {
  const items = Array.from({ length: 12 }, (_, nth) => nth);
  const stop = new AbortController();
  const stopped = await runEach(
    items,
    async (item) => {
      await tick();
      if (item === 0) stop.abort();
    },
    { signal: stop.signal },
  );
  // Four at a time.
  expect(stopped).toEqual({ done: 4, failed: [], unstarted: items.slice(4) });
  const full = await runEach(items, () => Promise.reject(new Error('full')), { isFatal: () => true });
  expect([full.done, full.failed.length, full.unstarted]).toEqual([4, 4, items.slice(4)]);
});
