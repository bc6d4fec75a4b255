import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { storedValue } from './stored-value.ts';

let kept: Map<string, string>;
beforeEach(() => {
  kept = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal('removeEventListener', vi.fn());
});
afterEach(() => vi.unstubAllGlobals());

const theme = () => storedValue('theme', z.enum(['light', 'dark']), 'light');

test('a value is kept, read again and told to those who look', () => {
  const stored = theme();
  const listener = vi.fn<() => void>();
  stored.subscribe(listener);
  stored.write('dark');
  expect(listener).toHaveBeenCalledOnce();
  expect(kept.get('theme')).toBe('"dark"');
  expect(theme().read()).toBe('dark');
});

test.each(['nonsense', '"blue"', '{', ''])('%s in the storage counts as nothing', (text) => {
  kept.set('theme', text);
  expect(theme().read()).toBe('light');
});

test('a browser that refuses storage still keeps the value for the page', () => {
  vi.stubGlobal('localStorage', {
    getItem: () => {
      throw new Error('denied');
    },
    setItem: () => {
      throw new Error('denied');
    },
  });
  const stored = theme();
  stored.write('dark');
  expect(stored.read()).toBe('dark');
});
