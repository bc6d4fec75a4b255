import { describe, expect, test } from 'vitest';
import { afterBatch, BatchShares, FIRST_BATCH, whenToSend } from './batch-policy.ts';

const MIB = 1024 * 1024;

describe('a batch', () => {
  test('has 512 captures, 128 of one user', () => {
    const shares = new BatchShares(false);
    for (let userId = 0; userId < 4; userId += 1)
      for (let nth = 0; nth < 128; nth += 1) {
        expect(shares.fits(userId, 1)).toBe(true);
        shares.add(userId, 1);
      }
    expect(shares.fits(0, 1)).toBe(false);
    expect(shares.fits(9, 1)).toBe(false);
  });

  test('has a megabyte of one user, and four in all', () => {
    const shares = new BatchShares(false);
    for (let userId = 0; userId < 4; userId += 1) {
      shares.add(userId, MIB - 1);
      expect(shares.fits(userId, 1)).toBe(true);
      expect(shares.fits(userId, 2)).toBe(false);
    }
    expect(shares.fits(9, 4)).toBe(true);
    expect(shares.fits(9, 5)).toBe(false);
  });

  test('has half of these bytes if storage is slow', () => {
    const shares = new BatchShares(true);
    for (let userId = 0; userId < 4; userId += 1) {
      shares.add(userId, MIB / 2 - 1);
      expect(shares.fits(userId, 1)).toBe(true);
      expect(shares.fits(userId, 2)).toBe(false);
    }
    expect(shares.fits(9, 4)).toBe(true);
    expect(shares.fits(9, 5)).toBe(false);
    shares.add(9, MIB / 2 + 1);
    expect(shares.hasLarge).toBe(true);
  });

  test('has one large capture, which leaves its bytes to the small ones', () => {
    const shares = new BatchShares(false);
    shares.add(1, 5 * MIB);
    expect(shares.hasLarge).toBe(true);
    expect(shares.fits(2, MIB + 1)).toBe(false);
    expect(shares.fits(1, MIB)).toBe(true);
  });

  test('is half full of waiting captures by number or by bytes', () => {
    const byNumber = new BatchShares(false);
    for (let nth = 0; nth < 255; nth += 1) byNumber.add(nth, 1);
    expect(byNumber.hasEnoughWaiting).toBe(false);
    byNumber.add(255, 1);
    expect(byNumber.hasEnoughWaiting).toBe(true);
    const byBytes = new BatchShares(false);
    byBytes.add(1, MIB);
    expect(byBytes.hasEnoughWaiting).toBe(false);
    byBytes.add(2, MIB);
    expect(byBytes.hasEnoughWaiting).toBe(true);
  });
});

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

test('a few senders are not waited for', () => {
  expect(afterBatch(FIRST_BATCH, 80, 5, true).targetSize).toBe(1);
  expect(afterBatch(FIRST_BATCH, 1, 6, false).targetSize).toBe(3);
});

test('the average follows the newest batches', () => {
  let state = FIRST_BATCH;
  for (let nth = 0; nth < 50; nth += 1) state = afterBatch(state, 20, 4, false);
  expect(state.batchMs).toBeCloseTo(20, 0);
});
