import { expect, test } from 'vitest';
import { formatJson } from '../../../bodies/format-json.ts';
import { jsonDiffLines } from './json-diff-lines.ts';

function show(text: string, sortsKeys: boolean): string {
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
])('%s without key order', (text, expected) => expect(show(text, true).trim()).toBe(expected));

test('with key order, lines stay as sent', () => {
  expect(show('{"b":1,"a":2}', false)).toBe('{ "b": 1 "a": 2 }');
});

test('deep nesting is no problem', () => {
  const deep = `${'{"b":1,"a":'.repeat(5000)}0${'}'.repeat(5000)}`;
  expect(show(deep, true)).toHaveLength(show(deep, false).length);
});
