import { expect, test } from 'vitest';
import { findText, foundWithin, markPieces, MAX_FOUND } from './find-text.ts';

test.each([
  [
    'without regard to case',
    'aXbx',
    'x',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['signs as they are', 'a.b', '.', [[1, 2]]],
  ['nothing', 'abc', '', []],
] as [string, string, string, number[][]][])('finds %s', (_, text, wanted, places) => {
  expect(findText(text, wanted).map(({ start, end }) => [start, end])).toEqual(places);
});

test('the number of matches is limited', () =>
  expect(findText('a'.repeat(MAX_FOUND + 1), 'a')).toHaveLength(MAX_FOUND));

test.each([
  ['in the middle', 'abcd', 0, ['a', '[bc]', 'd']],
  ['over the beginning', 'cd', 2, ['[c]', 'd']],
  ['not at all', 'xy', 9, ['xy']],
])('marks %s', (_, text, offset, pieces) => {
  const shown = markPieces(text, offset, [{ start: 1, end: 3 }]).map((piece) =>
    piece.ordinal === undefined ? piece.text : `[${piece.text}]`,
  );
  expect(shown).toEqual(pieces);
});

test('the matches that touch a range are found', () => {
  const found = findText('x..x..x', 'x');
  expect([foundWithin(found, 0, 1), foundWithin(found, 1, 3), foundWithin(found, 3, 7)]).toEqual([
    [0, 1],
    [1, 1],
    [1, 3],
  ]);
});
