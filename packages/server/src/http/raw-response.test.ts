import { afterEach, expect, test, vi } from 'vitest';
import { rawCaptured } from './raw-response.ts';

afterEach(() => vi.useRealTimers());

const linesAt = (time: string, index: number | undefined, keepsAlive: boolean): string[] => {
  vi.useFakeTimers({ now: Date.parse(time), toFake: ['Date'] });
  return rawCaptured(index, keepsAlive).split('\r\n');
};

test('each response to a capture has its own index and the current second', () => {
  const first = linesAt('2026-11-25T10:00:00.000Z', 7, true);
  expect(first).toContain('x-creel-request: 7');
  expect(first).toContain('Date: Wed, 25 Nov 2026 10:00:00 GMT');
  const second = linesAt('2026-11-25T10:00:00.999Z', 0, true);
  expect(second).toEqual(first.map((line) => (line === 'x-creel-request: 7' ? 'x-creel-request: 0' : line)));
  expect(linesAt('2026-11-25T10:00:01.000Z', 0, true)).toContain('Date: Wed, 25 Nov 2026 10:00:01 GMT');
});

test('the last response of a connection and that of a logged capture differ in one header', () => {
  const usual = linesAt('2026-11-25T10:00:02.000Z', 7, true);
  const isKeepAlive = (line: string): boolean => line.toLowerCase().includes('keep-alive');
  const last = linesAt('2026-11-25T10:00:02.000Z', 7, false);
  expect(last.filter((line) => line !== 'Connection: close')).toEqual(usual.filter((line) => !isKeepAlive(line)));
  const logged = linesAt('2026-11-25T10:00:02.000Z', undefined, true);
  expect(logged).toEqual(usual.filter((line) => line !== 'x-creel-request: 7'));
});
