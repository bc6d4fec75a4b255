import { expect, test } from 'vitest';
import { afterBatch, FIRST_BATCH, whenToSend } from './batch-policy.ts';

test.each([
  ['a single sender is not held', FIRST_BATCH, 1, 'after-turn'],
  ['enough of those expected are there', { targetSize: 3, batchMs: 8 }, 3, 'now'],
  ['the others are waited for, a quarter of a batch', { targetSize: 3, batchMs: 8 }, 2, { withinMs: 2 }],
  ['never less than a millisecond', { targetSize: 3, batchMs: 0 }, 2, { withinMs: 1 }],
  ['never more than ten', { targetSize: 3, batchMs: 10_000 }, 2, { withinMs: 10 }],
])('%s', (_, state, gathered, moment) => {
  expect(whenToSend(state, gathered)).toEqual(moment);
});

test('half of the senders in flight fill a batch on fast storage, all of them on slow storage or in one group', () => {
  expect(afterBatch(FIRST_BATCH, 1, 9, false).targetSize).toBe(5);
  expect(afterBatch(FIRST_BATCH, 80, 9, false).targetSize).toBe(9);
  expect(afterBatch(FIRST_BATCH, 1, 9, true).targetSize).toBe(9);
});

test('the average follows the newest batches', () => {
  let state = FIRST_BATCH;
  for (let nth = 0; nth < 50; nth += 1) state = afterBatch(state, 20, 4, false);
  expect(state.batchMs).toBeCloseTo(20, 0);
});
