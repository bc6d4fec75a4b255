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
});

test('one at a time keeps the order, and each waits for the one before', async () => {
  const log: string[] = [];
  await runEach(
    ['a', 'b', 'c'],
    async (item) => {
      log.push(`start ${item}`);
      await tick();
      await tick();
      log.push(`end ${item}`);
    },
    { parallel: 1 },
  );
  expect(log).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c']);
});

test('after an abort or a fatal error, nothing more is started', async () => {
  const stop = new AbortController();
  const stopped = await runEach(
    [1, 2, 3, 4],
    async (item) => {
      await tick();
      if (item === 2) stop.abort();
    },
    { parallel: 1, signal: stop.signal },
  );
  expect(stopped).toEqual({ done: 2, failed: [] });
  const full = await runEach([1, 2, 3, 4], () => Promise.reject(new Error('full')), {
    parallel: 1,
    isFatal: () => true,
  });
  expect([full.done, full.failed.length]).toEqual([1, 1]);
});
