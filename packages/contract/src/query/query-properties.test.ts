import { expect, test } from 'vitest';
import { makeDice } from '../../../../fixtures/dice.ts';
import type { Dice } from '../../../../fixtures/dice.ts';
import { Generator } from '../../../../fixtures/generated-queries.ts';
import { isJson, resultOf } from './json-text.ts';
import { parseQuery } from './parse-query.ts';
import { printQuery } from './print-query.ts';

/** Returns what is wrong with parsing and printing a text, or `undefined`. */
function problemWith(written: string): string | undefined {
  const first = parseQuery(written);
  if (!first.ok) return first.position < written.length ? undefined : `${written} is wrong at ${first.position}`;
  const printed = printQuery(first.query);
  const second = parseQuery(printed);
  if (!second.ok || JSON.stringify(second.query) !== JSON.stringify(first.query)) return `${written} became ${printed}`;
  return printQuery(second.query) === printed ? undefined : `${printed} is printed differently`;
}

test('a printed query parses to the same query, and prints the same again', () => {
  const generator = new Generator(1, Date.UTC(2026, 10, 22));
  const written = Array.from({ length: 10_000 }, () => generator.query());
  expect(written.filter((query) => !parseQuery(query).ok)).toEqual([]);
  expect(written.map(problemWith).filter((problem) => problem !== undefined)).toEqual([]);
});

/** Random text from the special characters and words in `pieces`. */
function noise(dice: Dice, pieces: readonly string[]): string {
  return Array.from({ length: dice.below(12) }, () => dice.pick(pieces)).join('');
}

test('any text is parsed or rejected at a position inside it, and parsed queries can be printed', () => {
  const dice = makeDice(2);
  const pieces = [
    '(',
    ')',
    '"',
    '\\',
    ' ',
    '-',
    'OR',
    'a',
    ':',
    'json.',
    'query.',
    'path:',
    'size:',
    '>',
    '..',
    '1',
    ',',
    '*',
    '.',
    '\ud800',
    '🦀',
  ];
  const written = Array.from({ length: 20_000 }, () => noise(dice, pieces));
  expect(written.map(problemWith).filter((problem) => problem !== undefined)).toEqual([]);
});

test('isJson accepts what JSON.parse accepts', () => {
  const dice = makeDice(3);
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    '"a"',
    ':',
    ',',
    '1',
    '-',
    '.5',
    'e3',
    'true',
    'null',
    ' ',
    '\n',
    '"\\n"',
    '"\\x"',
    '"\\u12"',
    '"',
    '\\',
    '0',
  ];
  const takes = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const texts = Array.from({ length: 50_000 }, () => noise(dice, pieces));
  expect(texts.filter((text) => resultOf(isJson(text)) !== takes(text))).toEqual([]);
});
