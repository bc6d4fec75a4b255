import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { currentTime, noteServerTime, signal, storedValue } from './state.ts';

let kept: Map<string, string>;
beforeEach(() => {
  kept = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

const theme = () => storedValue('theme', z.enum(['light', 'dark']), 'light');

test('a value is stored, read again and sent to subscribers', () => {
  const stored = theme();
  const listener = vi.fn<() => void>();
  stored.subscribe(listener);
  stored.set('dark');
  expect(listener).toHaveBeenCalledOnce();
  expect(kept.get('theme')).toBe('"dark"');
  expect(theme().read()).toBe('dark');
});

test.each(['nonsense', '"blue"', '{', ''])('the fallback replaces an invalid stored value: %s', (text) => {
  kept.set('theme', text);
  expect(theme().read()).toBe('light');
});

test('what another tab stores is read, also while nothing subscribes', () => {
  const tab = new EventTarget();
  vi.stubGlobal('addEventListener', tab.addEventListener.bind(tab));
  const stored = theme();
  kept.set('theme', '"dark"');
  tab.dispatchEvent(Object.assign(new Event('storage'), { key: 'other' }));
  expect(stored.read()).toBe('light');
  tab.dispatchEvent(Object.assign(new Event('storage'), { key: 'theme' }));
  expect(stored.read()).toBe('dark');
});

test('without storage, the value lasts as long as the page', () => {
  vi.stubGlobal('localStorage', {
    getItem: () => {
      throw new Error('denied');
    },
    setItem: () => {
      throw new Error('denied');
    },
  });
  const stored = theme();
  stored.set('dark');
  expect(stored.read()).toBe('dark');
});

test('what a signal needs runs while it has subscribers', () => {
  const stop = vi.fn<() => void>();
  const start = vi.fn<() => () => void>(() => stop);
  const counted = signal(0, start);
  const [first, second] = [counted.subscribe(vi.fn()), counted.subscribe(vi.fn())];
  first();
  expect([start.mock.calls.length, stop.mock.calls.length]).toEqual([1, 0]);
  second();
  second();
  expect(stop).toHaveBeenCalledOnce();
});

test('a response decides how wrong the clock of the machine is, until that clock is set', () => {
  const time = Date.parse('2026-11-30T12:00:00Z');
  try {
    vi.setSystemTime(time - 600_000);
    noteServerTime(time - 3_600_000);
    noteServerTime(time);
    expect(currentTime(), 'after a late response, and another').toBe(time);
    noteServerTime(time + 60_000);
    expect(currentTime(), 'after a response of a server with another clock').toBe(time);
    vi.setSystemTime(time);
    noteServerTime(time - 600_000);
    noteServerTime(time);
    expect(currentTime(), 'after the clock was corrected').toBe(time);
  } finally {
    vi.useRealTimers();
  }
});
