import { expect, test } from 'vitest';
import { formatJson } from '../../../bodies/format-json.ts';
import { diffFields, diffHeaders, diffLines, sideBySide, diffWords, jsonDiffLines } from './diff.ts';
import type { TextPart } from './diff.ts';

const showLines = (left: string[], right: string[]) =>
  diffLines(left, right)?.map(({ mark, text }) => `${mark} ${text}`);

test.each([
  ['the same', ['a'], ['a'], ['same a']],
  ['a changed line', ['a', 'b', 'c'], ['a', 'x', 'c'], ['same a', 'left b', 'right x', 'same c']],
  ['nothing on the left', [], ['a'], ['right a']],
])('lines: %s', (_, left, right, lines) => expect(showLines(left, right)).toEqual(lines));

test('line numbers count each side', () => {
  expect(diffLines(['a', 'b'], ['b'])?.map(({ left, right }) => [left, right])).toEqual([
    [1, undefined],
    [2, 1],
  ]);
});

test('a changed line is beside its replacement', () => {
  const rows = sideBySide(diffLines(['a', 'b', 'c'], ['x', 'c', 'd']) ?? []);
  expect(rows.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ['a', 'x'],
    ['b', undefined],
    ['c', 'c'],
    [undefined, 'd'],
  ]);
});

test('headers are compared by name, repeats in order', () => {
  const diff = diffHeaders(
    [
      ['A', '1'],
      ['B', '2'],
      ['a', '3'],
    ],
    [
      ['b', '2'],
      ['a', '1'],
      ['C', '4'],
    ],
  );
  expect(diff).toEqual([
    { name: 'A', left: ['1', '3'], right: ['1'], same: false },
    { name: 'B', left: ['2'], right: ['2'], same: true },
    { name: 'C', left: [], right: ['4'], same: false },
  ]);
});

test.each([
  ['an empty value and none', [['a', '']], []],
  [
    'a line break in a value and two values',
    [['a', '1\n2']],
    [
      ['a', '1'],
      ['a', '2'],
    ],
  ],
] as const)('%s are different', (_, left, right) => {
  expect(diffFields(left, right)).toEqual([expect.objectContaining({ same: false })]);
});

const showWords = (parts: readonly TextPart[]): string =>
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
  expect([showWords(diff.left), showWords(diff.right)]).toEqual([ours, theirs]);
});

function showJson(text: string, sortsKeys: boolean): string {
  const json = formatJson(text, { partial: true });
  return json === undefined
    ? ''
    : jsonDiffLines(json, sortsKeys)
        .map((line) => line.trimStart())
        .join(' ');
}

test.each([
  ['{"b":1,"a":{"d":[1,2],"c":3}}', '{ "a": { "c": 3 "d": [ 1 2 ] } "b": 1 }'],
  // Arrays keep their order, the objects in them do not.
  ['[{"b":1,"a":2},0]', '[ { "a": 2 "b": 1 } 0 ]'],
  // An escaped key is the same key, and duplicates stay in order.
  [String.raw`{"b":1,"\u0061":2,"a":3}`, String.raw`{ "\u0061": 2 "a": 3 "b": 1 }`],
  ['{"b":{},"a":[]}', '{ "a": [] "b": {} }'],
  // A cut body keeps its order.
  ['{"b":1,"a":2', '{ "b": 1 "a": 2'],
])('%s without key order', (text, expected) => expect(showJson(text, true).trim()).toBe(expected));

test('with key order, lines stay as sent', () => {
  expect(showJson('{"b":1,"a":2}', false)).toBe('{ "b": 1 "a": 2 }');
});

test('deep nesting is no problem', () => {
  const deep = `${'{"b":1,"a":'.repeat(5000)}0${'}'.repeat(5000)}`;
  expect(showJson(deep, true)).toHaveLength(showJson(deep, false).length);
});
