import type { WorkSteps } from '@creel/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SlicedWork } from './sliced-work.ts';

/** Work that takes this many milliseconds in steps of one. */
function* busyWork(milliseconds: number): WorkSteps {
  for (let done = 0; done < milliseconds; done += 1) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    yield;
  }
  return true;
}

test('long work leaves turns of the event loop to other work', async () => {
  let isDone = false;
  const work = new SlicedWork().run(busyWork(50)).finally(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns += 1) await nextTurn();
  expect(await work).toBe(true);
  expect(turns).toBeGreaterThan(5);
});

test('work that takes too long ends without a result', async () => {
  expect(await new SlicedWork().run(busyWork(10_000), 20)).toBeUndefined();
});

test('work that was done before does not count', async () => {
  const work = new SlicedWork();
  for (let nth = 0; nth < 5; nth += 1) expect(await work.run(busyWork(15), 1000)).toBe(true);
  await nextTurn();
  expect(await work.run(busyWork(0), 0)).toBe(true);
});
