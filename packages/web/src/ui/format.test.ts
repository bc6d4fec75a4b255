import { expect, test, vi } from 'vitest';
import {
  formatAverageSize,
  formatHour,
  formatSize,
  formatInstant,
  shortAge,
  timeAgo,
  formatDuration,
  statusLine,
  statusTone,
} from './format.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');

test('a missing or invalid time is shown as recently', () => {
  for (const time of [null, undefined, '', 'yesterday']) {
    expect(timeAgo(time, now)).toBe('recently');
    expect(shortAge(time, now)).toBe('recently');
  }
});

test('a time is shown in its largest unit, and a future time as now', () => {
  expect(timeAgo('2026-11-21T11:59:59.500Z', now)).toBe('moments ago');
  expect(timeAgo('2026-11-21T11:59:59.000Z', now)).toBe('1 second ago');
  expect(timeAgo('2026-11-21T10:00:00.000Z', now)).toBe('2 hours ago');
  expect(timeAgo('2026-11-22T12:00:00.000Z', now)).toBe('moments ago');
});

test('sizes below 1024 are in bytes, above in KB with one decimal, missing ones are zero', () => {
  expect([0, 1023, 1024, 1536].map(formatSize)).toEqual(['0 B', '1023 B', '1.0 KB', '1.5 KB']);
  const large = [1024 ** 2 - 100, 1024 ** 2 - 1, 1024 ** 2, 5 * 1024 ** 2, 26_214_400];
  expect(large.map(formatSize)).toEqual(['1023.9 KB', '1024.0 KB', '1024.0 KB', '5120.0 KB', '25600.0 KB']);
  expect([null, undefined, Number.NaN].map(formatSize)).toEqual(['0 B', '0 B', '0 B']);
  expect([512, null].map(formatAverageSize)).toEqual(['0.5 KB', '0.0 KB']);
});

test('the hour is that of the time zone', () => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  expect(formatHour('2026-11-21T20:41:57Z')).toBe('02:11');
});

test('an exact time has its date, milliseconds and zone', () => {
  expect(formatInstant('2026-11-21T08:41:57.113Z')).toMatch(/^Nov 2[0-2], 2026, \d\d:\d\d:57\.113 \S+/);
  expect(formatInstant('yesterday')).toBe('');
});

test.each([
  [200, 'success'],
  [299, 'success'],
  [101, 'warning'],
  [300, 'warning'],
  [304, 'warning'],
  [399, 'warning'],
  [400, 'destructive'],
  [503, 'destructive'],
  [999, 'destructive'],
] as const)('status %i is %s', (status, tone) => expect(statusTone(status)).toBe(tone));

test('the status line is only the number if there is no reason phrase', () => {
  expect(statusLine({ status: 302, statusText: 'Found' })).toBe('302 Found');
  expect(statusLine({ status: 200, statusText: '' })).toBe('200');
});

test.each([
  [0.2, '0 ms'],
  [34.4, '34 ms'],
  [999.6, '1.00 s'],
  [1240, '1.24 s'],
])('%d ms read %s', (ms, text) => expect(formatDuration(ms)).toBe(text));
