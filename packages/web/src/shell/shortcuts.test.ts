import { expect, test, vi } from 'vitest';
import { keysOf, showKeys } from './shortcuts.ts';

const press = (key: string, held: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey', boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
});

test('Ctrl and Command are equal; other modifiers are ignored', () => {
  expect(keysOf(press('j'))).toBe('j');
  expect(keysOf(press('?'))).toBe('?');
  expect(keysOf(press('K', { ctrlKey: true }))).toBe('mod+k');
  expect(keysOf(press('k', { metaKey: true }))).toBe('mod+k');
  expect(keysOf(press('j', { altKey: true }))).toBeUndefined();
});

test.each([
  ['j', 'j'],
  ['mod+k', 'Ctrl K'],
  ['mod+enter', 'Ctrl Enter'],
])('%s is written %s', (keys, written) => {
  vi.stubGlobal('navigator', { userAgent: 'X11; Linux' });
  expect(showKeys(keys)).toBe(written);
  vi.unstubAllGlobals();
});
