import { expect, test } from 'vitest';
import { throttled } from './rate-limits.ts';

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
