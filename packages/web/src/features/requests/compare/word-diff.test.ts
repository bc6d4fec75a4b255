import { expect, test } from 'vitest';
import { diffWords } from './word-diff.ts';
import type { TextPart } from './word-diff.ts';

const show = (parts: readonly TextPart[]): string =>
  parts.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('');

test.each([
  ['the same', 'the same', 'the same', 'the same'],
  ['"amount": 1000', '"amount": 2500', '"amount": [1000]', '"amount": [2500]'],
  ['a b c', 'a c', 'a [b ]c', 'a c'],
  ['a c', 'a b c', 'a c', 'a [b ]c'],
  ['quite another text', '42', '[quite another text]', '[42]'],
  ['', 'new', '', '[new]'],
  ['  "a": 1', '    quite different', '  ["a": 1]', '    [quite different]'],
])('%s | %s', (left, right, ours, theirs) => {
  const diff = diffWords(left, right);
  expect([show(diff.left), show(diff.right)]).toEqual([ours, theirs]);
});
