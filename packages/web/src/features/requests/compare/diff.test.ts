import { expect, test } from 'vitest';
import { diffHeaders, diffLines, sideBySide } from './diff.ts';

const show = (left: string[], right: string[]) => diffLines(left, right)?.map(({ mark, text }) => `${mark} ${text}`);

test.each([
  ['the same', ['a'], ['a'], ['same a']],
  ['a changed line', ['a', 'b', 'c'], ['a', 'x', 'c'], ['same a', 'left b', 'right x', 'same c']],
  ['nothing on the left', [], ['a'], ['right a']],
])('lines: %s', (_, left, right, lines) => expect(show(left, right)).toEqual(lines));

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
