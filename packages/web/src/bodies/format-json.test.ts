import { expect, test } from 'vitest';
import { formatJson, findJsonError } from './format-json.ts';
import { KIND, lineOf, pathOf, sourceOf, valueToCopy, visibleLines, linesAround, searchJson } from './json-lines.ts';
import type { JsonLines } from './json-lines.ts';

const NONE: JsonLines = { text: '', count: 0, values: 0, cells: new Int32Array(), ended: 'complete' };
const format = (text: string, partial = false): JsonLines => formatJson(text, { partial }) ?? NONE;

/** The lines as displayed. */
function show(json: JsonLines, folded: ReadonlySet<number> = new Set()): string[] {
  return [...visibleLines(json, folded)].map((number) => {
    const { depth, key, text, comma } = lineOf(json, number);
    return `${' '.repeat(depth)}${key === undefined ? '' : `${key}: `}${text}${comma ? ',' : ''}`;
  });
}

test.each([
  ['a scalar', ' 1 ', ['1']],
  ['an object', '{"a":1,"b":[true,null]}', ['{', ' "a": 1,', ' "b": [', '  true,', '  null', ' ]', '}']],
  ['empty ones', '{"a":{},"b":[ ]}', ['{', ' "a": {},', ' "b": []', '}']],
  [
    'every digit',
    '[12345678901234567890,1.10,1e400,-0,-0.0E+1]',
    ['[', ' 12345678901234567890,', ' 1.10,', ' 1e400,', ' -0,', ' -0.0E+1', ']'],
  ],
  ['order and doubles', '{"2":1,"1":2,"2":3}', ['{', ' "2": 1,', ' "1": 2,', ' "2": 3', '}']],
  ['escapes as sent', String.raw`{"\u0061\/":"\ud83d\ude00\n"}`, ['{', String.raw` "\u0061\/": "\ud83d\ude00\n"`, '}']],
  ['__proto__ as any key', '{"__proto__":{"a":1}}', ['{', ' "__proto__": {', '  "a": 1', ' }', '}']],
  ['a byte order mark', '\uFEFF[1]', ['[', ' 1', ']']],
  ['what is spaced out', '{ "a" :\r\n\t1 }', ['{', ' "a": 1', '}']],
])('lays out %s', (_, text, lines) => expect(show(format(text))).toEqual(lines));

test.each([
  ['nothing', ''],
  ['a word', 'hello'],
  ['two values', '1 2'],
  ['a comma too many', '[1,]'],
  ['a comma too many in an object', '{"a":1,}'],
  ['a missing comma', '[1 2]'],
  ['a missing colon', '{"a" 1}'],
  ['a key without quotes', '{a:1}'],
  ['single quotes', "['a']"],
  ['the wrong bracket', '[1}'],
  ['a bracket too many', '[1]]'],
  ['an open end', '[1'],
  ['a leading zero', '[01]'],
  ['a bare minus', '[-]'],
  ['a point without digits', '[1.]'],
  ['an unknown escape', String.raw`["\x41"]`],
  ['a short unicode escape', String.raw`["\u12"]`],
  ['a raw line feed in a text', '["a\nb"]'],
  ['NaN', '[NaN]'],
  ['HTML', '<html></html>'],
])('is not JSON: %s', (_, text) => expect(formatJson(text)).toBeUndefined());

test.each([
  ['in a text', '{"a":"he', ['{', ' "a": "he']],
  ['in an escape', String.raw`["a\u00`, ['[', String.raw` "a\u00`]],
  ['in a key', '{"a":1,"bc', ['{', ' "a": 1,']],
  ['in a number', '[1,-', ['[', ' 1,', ' -']],
  ['in a word', '[tr', ['[', ' tr']],
  ['behind a comma', '[1,', ['[', ' 1,']],
])('the beginning of JSON, cut %s', (_, text, lines) => {
  const json = format(text, true);
  expect([show(json), json.ended]).toEqual([lines, 'text']);
});

test('an error in the loaded part is an error', () => expect(formatJson('{"a":x', { partial: true })).toBeUndefined());

test('folding hides up to the closing bracket', () => {
  expect(show(format('{"a":{"b":1,"c":[2]},"d":3}'), new Set([1]))).toEqual(['{', ' "a": {', ' "d": 3', '}']);
});

test('a bracket counts its values', () => {
  const line = lineOf(format('{"a":{"b":1,"c":[2,3]}}'), 1);
  expect([line.kind, line.size, line.foldsTo]).toEqual([KIND.openObject, 2, 7]);
});

test.each([
  [0, '$'],
  [2, 'a[0]'],
  [4, 'a[1].b'],
  [7, '["odd key"]'],
  [8, 'A'],
])('path of line %i', (line, path) => {
  expect(pathOf(format(String.raw`{"a":[1,{"b":2}],"odd key":3,"\u0041":4}`), line)).toBe(path);
});

test('a value is copied as text, an object as its source', () => {
  const json = format(String.raw`{"a":"x\ny","b":{ "c" : 1.0 }}`);
  expect([valueToCopy(json, 1), valueToCopy(json, 2), sourceOf(json, 1)]).toEqual([
    'x\ny',
    '{ "c" : 1.0 }',
    String.raw`"x\ny"`,
  ]);
});

test('JSON with a depth of 100,000 is formatted', () => {
  const deep = 100_000;
  const json = format('['.repeat(deep) + ']'.repeat(deep));
  expect([json.count, json.ended, lineOf(json, deep - 1).depth]).toEqual([2 * deep - 1, 'complete', deep - 1]);
  expect(pathOf(json, deep - 1).length).toBe(3 * (deep - 1));
});

test('the number of lines is limited', () => {
  const json = formatJson(`[${'1,'.repeat(100)}1]`, { maxLines: 50 });
  expect([json?.count, json?.ended]).toEqual([50, 'lines']);
});

test('the lines of any JSON join to its source', () => {
  const text = JSON.stringify({
    list: [1, 'two', { three: [[], {}, null, [true]] }],
    text: 'a"b\\c',
    nested: { a: { b: { c: 1e21 } } },
  });
  expect(
    show(format(text))
      .map((line) => line.trim().replace(/^("(?:[^"\\]|\\.)*"): /, '$1:'))
      .join(''),
  ).toBe(text);
});

test.each([
  ['a key', 'KEY', [[1, 'key']]],
  [
    'a scalar',
    '12',
    [
      [1, '12'],
      [3, '12'],
    ],
  ],
  ['never what is only between', ':1', []],
  ['special characters as they are', '.', [[3, '.']]],
  ['nothing', '', []],
] as [string, string, [number, string][]][])('finds %s', (_, query, expected) => {
  const json = format('{"key":12,"b":[12.5]}');
  expect(searchJson(json, query).map(({ line, start, end }) => [line, json.text.slice(start, end)])).toEqual(expected);
});

test('the lines around a match are the ones to unfold', () => {
  expect(linesAround(format('{"a":{"b":[1]}}'), 3)).toEqual([2, 1, 0]);
});

test.each([
  ['a comma too many', '{\n  "a": 1,\n}', { at: 12, line: 3, column: 1, ended: false }],
  ['a control character within a string', '["a\tb"]', { at: 3, line: 1, column: 4, ended: false }],
  ['an escape that there is none of', String.raw`["a\x"]`, { at: 3, line: 1, column: 4, ended: false }],
  ['another language', '{"a": None}', { at: 6, line: 1, column: 7, ended: false }],
  ['something behind the end', '{}\r\n{}', { at: 4, line: 2, column: 1, ended: false }],
  ['an end too early', '{"a": [1', { at: 8, line: 1, column: 9, ended: true }],
])('JSON breaks at %s', (_, text, place) => expect(findJsonError(text)).toEqual(place));

test('valid JSON has no error', () => expect(findJsonError(' {"a":[1]} ')).toBeUndefined());

test('sequences of values are only accepted for sequence types', () => {
  const lines = '{"a":1}\n{"b":[2]}\n\u001e3\n';
  expect(formatJson(lines)).toBeUndefined();
  const json = formatJson(lines, { sequence: true }) ?? NONE;
  expect(show(json)).toEqual(['{', ' "a": 1', '}', '{', ' "b": [', '  2', ' ]', '}', '3']);
  expect(json.values).toBe(3);
  expect(pathOf(json, 5)).toBe('b[0]');
  expect(show(json, new Set([0, 3]))).toEqual(['{', '{', '3']);
  expect(formatJson('{"a":1},{"b":2}', { sequence: true })).toBeUndefined();
  expect(formatJson('[1]', { sequence: true })?.values).toBe(1);
  expect(formatJson('[1]\u001e')).toBeUndefined();
  expect(formatJson('', { sequence: true })).toBeUndefined();
});
