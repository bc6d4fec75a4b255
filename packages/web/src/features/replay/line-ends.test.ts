import { expect, test } from 'vitest';
import { inTextArea, lineEndsOf, withLineEnds } from './line-ends.ts';

test.each([
  ['a\nb\n', 'LF'],
  ['a\r\nb\r\n', 'CRLF'],
  ['a\rb', 'CR'],
  ['a\r\nb\n', 'mixed'],
  ['a', 'LF'],
] as const)('the lines of %j end in %s', (text, ends) => expect(lineEndsOf(text)).toBe(ends));

test.each(['a\nb', 'a\r\nb\r\n', 'a\rb\r', 'no line'])('through a text area and back: %j', (text) =>
  expect(withLineEnds(inTextArea(text), lineEndsOf(text))).toBe(text),
);

test('a text area only knows LF', () => expect(inTextArea('a\r\nb\rc\n')).toBe('a\nb\nc\n'));
