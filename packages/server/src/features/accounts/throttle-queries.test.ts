import { describe, expect, test } from 'vitest';
import { NEW_STATE, afterRefund, afterAttempt } from './throttle-queries.ts';
import type { ThrottleRule } from './throttle-queries.ts';

const PLAIN: ThrottleRule = { attempts: 3, windowMs: 1000 };
const GROWING: ThrottleRule = { attempts: 3, windowMs: 1000, growing: { firstMs: 10, maxMs: 40, forgetMs: 5000 } };

/** Makes attempts at these times. Returns until when the key is blocked after each, or `refused`. */
function course(rule: ThrottleRule, times: readonly number[]): (number | 'refused')[] {
  let state = NEW_STATE;
  return times.map((now) => {
    const after = afterAttempt(state, rule, now);
    if (after === undefined) return 'refused';
    state = after;
    return after.blocked_until;
  });
}

describe('a window', () => {
  test.each<[string, number[], (number | 'refused')[]]>([
    ['begins with the first attempt', [100, 200, 300], [0, 0, 1100]],
    ['refuses until it ends', [0, 0, 0, 999], [0, 0, 1000, 'refused']],
    ['begins anew', [0, 0, 0, 1000, 1000], [0, 0, 1000, 0, 0]],
    ['is not prolonged by later attempts', [0, 900, 1000, 1100], [0, 0, 0, 0]],
    ['begins anew after the clock was set back', [9000, 9000, 9000, 100, 200, 300], [0, 0, 10_000, 0, 0, 1100]],
    ['goes on at a node whose clock is behind', [9000, 9000, 9000, 8500], [0, 0, 10_000, 'refused']],
  ])('%s', (_, times, expected) => {
    expect(course(PLAIN, times)).toEqual(expected);
  });
});

describe('a growing wait', () => {
  test.each<[string, number[], (number | 'refused')[]]>([
    ['doubles with each attempt, up to a limit', [0, 0, 0, 10, 30, 70, 110], [0, 0, 10, 30, 70, 110, 150]],
    ['is not prolonged by refused attempts', [0, 0, 0, 9, 9, 10], [0, 0, 10, 'refused', 'refused', 30]],
    ['goes on where it was, within its memory', [0, 0, 0, 4999], [0, 0, 10, 5019]],
    ['ends when the clock is set back', [90_000, 90_000, 90_000, 100], [0, 0, 90_010, 0]],
    ['is forgotten after it', [0, 0, 0, 5000, 5000, 5000], [0, 0, 10, 0, 0, 5010]],
    ['does not begin while failures are few and far between', [0, 500, 1000, 1500, 2000], [0, 0, 0, 0, 0]],
  ])('%s', (_, times, expected) => {
    expect(course(GROWING, times)).toEqual(expected);
  });
});

test('a refunded attempt removes the block that it caused, and the count never drops below zero', () => {
  const used = { count: 3, blocked_until: 1000, forget_at: 1000 };
  expect(afterRefund(used, PLAIN)).toEqual({ count: 2, blocked_until: 0, forget_at: 1000 });
  expect(afterRefund({ ...used, count: 5 }, PLAIN)).toEqual({ count: 4, blocked_until: 1000, forget_at: 1000 });
  expect(afterRefund(NEW_STATE, PLAIN).count).toBe(0);
});
