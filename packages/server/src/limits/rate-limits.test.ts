import { expect, onTestFinished, test, vi } from 'vitest';
import { TokenBucket, throttled } from './rate-limits.ts';

test('runs at once, and again only after the interval', () => {
  let time = 0;
  const seen: string[] = [];
  const note = throttled(
    100,
    (what: string) => seen.push(what),
    () => time,
  );
  note('first');
  time = 99;
  note('too early');
  time = 100;
  note('second');
  note('too early again');
  expect(seen).toEqual(['first', 'second']);
});

/** Takes from a bucket of two tokens per second, on a test clock. */
function someBucket() {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const bucket = new TokenBucket(2);
  return (count: number): number[] => Array.from({ length: count }, () => bucket.consume());
}

test('a burst takes ten seconds of tokens, then each waits for its token in whole seconds', () => {
  const take = someBucket();
  expect(take(22)).toEqual([...Array.from({ length: 20 }, () => 0), 1, 1]);
  vi.advanceTimersByTime(499);
  expect(take(1)).toEqual([1]);
  vi.advanceTimersByTime(1);
  expect(take(2)).toEqual([0, 1]);
});

test('a bucket never has more tokens than for a burst', () => {
  const take = someBucket();
  take(1);
  vi.advanceTimersByTime(60_000);
  expect(take(21).filter((wait) => wait > 0)).toEqual([1]);
});

test('a clock that is set back changes no tokens', () => {
  const take = someBucket();
  vi.setSystemTime(Date.now() - 60_000);
  expect(take(20)).toEqual(Array.from({ length: 20 }, () => 0));
  vi.advanceTimersByTime(500);
  expect(take(1)).toEqual([0]);
});
