import type { WorkSteps } from '@creel/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SlicedWork } from './sliced-work.ts';

let now = 0;
let used = 0;
const createWork = (): SlicedWork =>
  new SlicedWork(
    () => now,
    () => used,
  );

/** Work that takes this many milliseconds of processor time in steps of one. Before each, the thread waits for a processor. */
function* stepsOf(milliseconds: number, waitMs = 0): WorkSteps {
  for (let done = 0; done < milliseconds; done += 1) {
    now += 1 + waitMs;
    used += 1;
    yield;
  }
  return true;
}

test('long work leaves turns of the event loop to other work', async () => {
  let isDone = false;
  const work = createWork()
    .run(stepsOf(50))
    .finally(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns += 1) await nextTurn();
  expect(await work).toBe(true);
  expect(turns).toBeGreaterThan(5);
});

test('work that takes too long ends without a result', async () => {
  expect(await createWork().run(stepsOf(20), 20)).toBe(true);
  expect(await createWork().run(stepsOf(100), 20)).toBeUndefined();
});

test('the time that the thread waits for a processor does not count', async () => {
  expect(await createWork().run(stepsOf(20, 100), 20)).toBe(true);
  expect(await createWork().run(stepsOf(100, 100), 20)).toBeUndefined();
});

test('work that was done before does not count', async () => {
  const work = createWork();
  expect(await work.run(stepsOf(4), 4)).toBe(true);
  expect(await work.run(stepsOf(4), 4)).toBe(true);
  expect(await work.run(stepsOf(100), 4)).toBeUndefined();
});
