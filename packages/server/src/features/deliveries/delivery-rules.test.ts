import { forwardedUrl } from '@creel/contract';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  areBehind,
  countFailures,
  deliveryIdOf,
  forwardedHeaders,
  markOf,
  nextAttemptAt,
  pauseReason,
  forwardRefusal,
  retryAfterMs,
} from './delivery-rules.ts';

const AT = Date.parse('2026-11-22T10:00:00Z');
const next = (attempt: number, random = 0, retryAfter?: string): number | null => {
  const responseHeaders: [string, string][] = retryAfter === undefined ? [] : [['Retry-After', retryAfter]];
  const time = nextAttemptAt({ attempt, at: AT, responseHeaders, random });
  return time === null ? null : (time - AT) / 1000;
};

describe('the next attempt', () => {
  test('waits longer each time, and there is none after the eighth', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => next(attempt))).toEqual([
      5,
      30,
      120,
      600,
      1800,
      7200,
      21_600,
      null,
      null,
    ]);
  });

  test('is up to a fifth later', () => {
    expect([next(1, 0.5), next(1, 1), next(7, 1)]).toEqual([5.5, 6, 25_920]);
  });

  test.each([
    ['seconds', '60', 60],
    ['a date', 'Sun, 22 Nov 2026 10:02:00 GMT', 120],
    ['an old date form', 'Sunday, 22-Nov-26 10:02:00 GMT', 120],
    ['less than the wait', '1', 5],
    ['no time', '0', 5],
    ['a past date', 'Sun, 22 Nov 2026 09:00:00 GMT', 5],
    ['more than six hours', '86400', 21_600],
    ['a number without end', '9'.repeat(400), 21_600],
    ['a negative number', '-60', 5],
    ['text', 'tomorrow', 5],
    ['a weekday and a number', 'Sat 99999', 5],
    ['a weekday and another form of date', 'Sun 2026-11-22T10:02:00', 5],
    ['a date in another time zone', 'Sun, 22 Nov 2026 12:02:00 +0200', 5],
    ['a date with a word too many', 'Sun, 22 Nov 2026 10:02:00 PM GMT', 5],
    ['a day that does not exist', 'Sun, 32 Nov 2026 10:02:00 GMT', 5],
    ['nothing', '', 5],
  ])('is never earlier than Retry-After asks: %s', (_, retryAfter, expected) => {
    expect(next(1, 0, retryAfter)).toBe(expected);
  });

  test('the oldest date form is UTC in every time zone', () => {
    vi.stubEnv('TZ', 'America/New_York');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(next(1, 0, 'Sun Nov 22 10:02:00 2026')).toBe(120);
    expect(retryAfterMs([['retry-after', 'Sun Nov  1 10:02:00 2026']], Date.parse('2026-11-01T10:00:00Z'))).toBe(
      120_000,
    );
  });

  test('the name of Retry-After has no case', () => {
    expect(retryAfterMs([['RETRY-AFTER', ' 7 ']], AT)).toBe(7000);
  });
});

describe('a destination', () => {
  test('is paused after 50 failures in a row', () => {
    expect(countFailures(48, [false])).toEqual({ failures: 49, isPaused: false });
    expect(countFailures(48, [false, false])).toEqual({ failures: 50, isPaused: true });
    expect(countFailures(49, [true, false])).toEqual({ failures: 1, isPaused: false });
    expect(pauseReason('503 Busy')).toBe('50 attempts in a row failed. The last one: 503 Busy');
  });
});

test('destinations are behind while none of them could send more', () => {
  const late = { pausedAt: null, dueAt: AT - 250 };
  const recent = { pausedAt: null, dueAt: AT - 249 };
  const idle = { pausedAt: null, dueAt: null };
  const paused = { pausedAt: AT, dueAt: null };
  expect(areBehind(100, [late, paused], AT)).toBe(true);
  expect(areBehind(99, [late, paused], AT)).toBe(false);
  expect(areBehind(100, [late, recent], AT)).toBe(false);
  expect(areBehind(100, [late, idle], AT)).toBe(false);
});

describe('a loop', () => {
  const own = markOf('a secret');
  const sent = (headers: [string, string][], mark = own) => forwardedHeaders(headers, { id: 'd1', attempt: 1, mark });

  test('is stopped at the first turn, and any chain after three hops', () => {
    expect(forwardRefusal('POST', [], own)).toBeNull();
    expect(forwardRefusal('POST', sent([]), own)).toMatch(/loop/);
    const others = ['b', 'c', 'd'].map((secret) => markOf(secret));
    const [once, twice, thrice] = others.map((_, nth) =>
      others.slice(0, nth + 1).reduce<[string, string][]>((headers, mark) => sent(headers, mark), []),
    );
    expect(forwardRefusal('POST', once ?? [], own)).toBeNull();
    expect(forwardRefusal('POST', twice ?? [], own)).toBeNull();
    expect(forwardRefusal('POST', thrice ?? [], own)).toMatch(/3 times/);
    expect(forwardRefusal('POST', sent(once ?? []), markOf('b'))).toMatch(/loop/);
  });

  test('a method that is never replayed is not forwarded', () => {
    expect(forwardRefusal('TRACE', [], own)).toMatch(/TRACE/);
  });

  test('the mark depends on the secret, and does not show it', () => {
    expect(markOf('a')).not.toBe(markOf('b'));
    expect(markOf('a')).toMatch(/^[\w-]{22}$/);
  });
});

test('headers stay as they are, except those of an earlier delivery', () => {
  const captured: [string, string][] = [
    ['X-B', '1'],
    ['creel-delivery', 'old'],
    ['x-b', '2'],
    ['Creel-ATTEMPT', '9'],
    ['creel-via', 'other'],
  ];
  expect(forwardedHeaders(captured, { id: 'dlv_1', attempt: 2, mark: 'own' })).toEqual([
    ['X-B', '1'],
    ['x-b', '2'],
    ['Creel-Delivery', 'dlv_1'],
    ['Creel-Attempt', '2'],
    ['Creel-Via', 'other, own'],
  ]);
});

test.each([
  ['http://h/hook', '/a/b?x=1', 'http://h/hook/a/b?x=1'],
  ['http://h/hook/', '/a', 'http://h/hook/a'],
  ['http://h', '/a', 'http://h/a'],
  ['http://h', '?x=1', 'http://h?x=1'],
  ['http://h/hook?k=v', '/a?x=1', 'http://h/hook/a?k=v&x=1'],
  ['http://h/hook?k=v#part', '', 'http://h/hook?k=v#part'],
  ['http://h/hook#part', '/a', 'http://h/hook/a'],
  ['http://h/hook', '//other.example/x', 'http://h/hook//other.example/x'],
  ['http://h/hook', '/a%2F%2e?y=%00', 'http://h/hook/a%2F%2e?y=%00'],
  ['http://h/hook', '/a?', 'http://h/hook/a?'],
  ['http://h/hook?k=v', '/a#b?x=#y', 'http://h/hook/a%23b?k=v&x=%23y'],
  ['http://h/hook?k=v', '/a?', 'http://h/hook/a?k=v'],
])('%s with %s is sent to %s', (url, target, expected) => {
  expect(forwardedUrl(url, true, target)).toBe(expected);
  expect(forwardedUrl(url, false, target)).toBe(url);
});

test('the id of a delivery depends on its capture, its destination and the installation only', () => {
  const planned = { destinationId: 1, index: 2, receivedAt: 3 };
  const ids = [
    deliveryIdOf('secret', planned),
    deliveryIdOf('other', planned),
    deliveryIdOf('secret', { ...planned, destinationId: 12 }),
    deliveryIdOf('secret', { ...planned, index: 23 }),
    deliveryIdOf('secret', { ...planned, receivedAt: 4 }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(deliveryIdOf('secret', { ...planned })).toBe(ids[0]);
  expect(ids[0]).toMatch(/^dlv_[0-9a-f]{12}[\w-]{22}$/);
});

test('ids of deliveries sort by the time of capture', () => {
  const times = [9, 16, 255, 1_700_000_000_000, 1_700_000_000_001];
  const ids = times.map((receivedAt) => deliveryIdOf('secret', { destinationId: 1, index: 2, receivedAt }));
  expect(ids.toSorted()).toEqual(ids);
});
