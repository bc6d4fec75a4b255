import { expect, test } from 'vitest';
import { hexDump, hexLine, lineOfPosition, textLines, textOfLine } from './view-lines.ts';

test('a line of hex has its offset, its bytes and its text', () => {
  const bytes = Uint8Array.from({ length: 20 }, (_, at) => at + 0x30);
  expect(hexLine(bytes, 1)).toEqual({ offset: '00000010', hex: '40 41 42 43', text: '@ABC' });
  expect(hexLine(bytes, 2, 8)).toEqual({ offset: '00000010', hex: '40 41 42 43', text: '@ABC' });
  expect(hexDump(bytes.subarray(0, 2))).toBe(`00000000  30 31${' '.repeat(43)}  |01|`);
});

test.each([
  ['by its breaks', 'ab\ncd\r\n', 10, ['ab', 'cd', '']],
  ['by its width', 'abcdef', 4, ['abcd', 'ef']],
  ['exactly as wide', 'abcd', 4, ['abcd']],
  ['empty', '', 4, ['']],
  ['both', 'abcde\nf', 4, ['abcd', 'e', 'f']],
])('lines of a text %s', (_, text, columns, expected) => {
  const lines = textLines(text, columns);
  expect(Array.from({ length: lines.count }, (__, line) => textOfLine(lines, line))).toEqual(expected);
});

test('a text can have more lines than the initial estimate', () => {
  const lines = textLines('\n'.repeat(1000) + 'end', 100);
  expect([lines.count, textOfLine(lines, 1000)]).toEqual([1001, 'end']);
});

test('the line that contains a position is found', () => {
  const lines = textLines('ab\ncd', 10);
  expect([0, 2, 3, 5].map((position) => lineOfPosition(lines, position))).toEqual([0, 0, 1, 1]);
});
