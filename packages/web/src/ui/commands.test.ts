import { afterEach, expect, test, vi } from 'vitest';
import { commandStore, registerCommands, runCommand, keysOf, showKeys, rankChoices } from './commands.ts';

const command = (id: string, run: () => void) => ({ id, title: id, group: 'Test', run });
const undo: (() => void)[] = [];
afterEach(() => {
  for (const take of undo.splice(0)) take();
});

test('a command runs while it is registered, and the last registration of an id wins', () => {
  const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()];
  undo.push(registerCommands([command('search', first)]));
  runCommand('search');
  const takeBack = registerCommands([command('search', second)]);
  runCommand('search');
  takeBack();
  runCommand('search');
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([2, 1]);
});

test('an unknown command does nothing, and subscribers are notified of changes', () => {
  const listener = vi.fn<() => void>();
  undo.push(commandStore.subscribe(listener));
  runCommand('nothing');
  registerCommands([command('a', () => {})])();
  expect(listener).toHaveBeenCalledTimes(2);
  expect(commandStore.read()).toEqual([]);
});

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

const choices = [
  { title: 'New endpoint', hint: 'General' },
  { title: 'Dashboard', hint: 'Go to' },
  { title: 'Stripe billing', hint: 'Endpoint' },
  { title: 'Billing of Stripe', hint: 'Endpoint' },
];
const titles = (query: string): string[] => rankChoices(choices, query).map(({ title }) => title);

test('an empty query returns everything in order', () => {
  expect(titles('  ')).toEqual(choices.map(({ title }) => title));
});

test('every word must match the title or heading; prefix matches come first', () => {
  expect(titles('bill')).toEqual(['Billing of Stripe', 'Stripe billing']);
  expect(titles('stripe END')).toEqual(['Stripe billing', 'Billing of Stripe']);
  expect(titles('endpoint')).toEqual(['New endpoint', 'Stripe billing', 'Billing of Stripe']);
  expect(titles('nothing')).toEqual([]);
});

test.each([
  ['strp', ['Stripe billing', 'Billing of Stripe']],
  ['sbil', ['Stripe billing']],
  ['ne', ['New endpoint']],
  ['bos endp', ['Billing of Stripe']],
  // The letters are there, but no word starts with the first one, or a later one is inside another word.
  ['trp', []],
  ['spill', []],
  ['strpp', []],
])('an abbreviation finds what it stands for: %s', (query, found) => {
  expect(titles(query)).toEqual(found);
});

test('what starts with a word comes first, then a word that does, a part of a word, and an abbreviation', () => {
  const named = ['Sept', 'Reset', 'The settings', 'Settings'].map((title) => ({ title }));
  expect(rankChoices(named, 'set').map(({ title }) => title)).toEqual(['Settings', 'The settings', 'Reset', 'Sept']);
});
