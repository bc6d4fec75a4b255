import { expect, test } from 'vitest';
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

/** A bucket of two tokens per second, and its clock. */
function bucketAt(start: number) {
  const clock = { now: start };
  const bucket = new TokenBucket(2, () => clock.now);
  const take = (count: number): number[] => Array.from({ length: count }, () => bucket.consume());
  return { clock, take };
}

test('a burst takes ten seconds of tokens, then each waits for its token in whole seconds', () => {
  const { clock, take } = bucketAt(1000);
  expect(take(22)).toEqual([...Array.from({ length: 20 }, () => 0), 1, 1]);
  clock.now += 499;
  expect(take(1)).toEqual([1]);
  clock.now += 1;
  expect(take(2)).toEqual([0, 1]);
});

test('a bucket never has more tokens than for a burst', () => {
  const { clock, take } = bucketAt(0);
  take(1);
  clock.now += 60_000;
  expect(take(21).filter((wait) => wait > 0)).toEqual([1]);
});

test('a clock that is set back takes no tokens', () => {
  const { clock, take } = bucketAt(60_000);
  clock.now = 0;
  expect(take(20)).toEqual(Array.from({ length: 20 }, () => 0));
  clock.now += 500;
  expect(take(1)).toEqual([0]);
});
