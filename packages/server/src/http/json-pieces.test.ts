import { describe, expect, test } from 'vitest';
import { inSlices, listJson, LongText, objectJson } from './large-answer.ts';
import { makeDice } from '../../../../fixtures/dice.ts';

const joined = (pieces: Iterable<string>): string => [...pieces].join('');
const long = (text: string): LongText => new LongText(Buffer.from(text), 'utf8');

/** Longer than any piece, so that some shift splits each of its characters. */
const AWKWARD = [
  '"',
  '\\',
  '\0',
  '\u0001',
  '\n',
  '\u007f',
  'é',
  '\u2028',
  '€',
  '\uFEFF',
  '😀',
  '</script>',
  'plain text',
];

describe('a long text', () => {
  test.each(['', 'x', ...AWKWARD])('%j is written as JSON.stringify writes it, wherever the pieces are cut', (text) => {
    for (const shift of [0, 1, 2, 3]) {
      const whole = 'a'.repeat(shift) + text.repeat(Math.ceil(60_000 / Math.max(1, Buffer.byteLength(text))));
      expect(joined(long(whole).json()) === JSON.stringify(whole)).toBe(true);
    }
    expect(joined(long(text).json())).toBe(JSON.stringify(text));
  });

  test('a mix of everything, five hundred times', () => {
    const dice = makeDice(20_261_130);
    for (let round = 0; round < 500; round += 1) {
      let text = 'filler '.repeat(3500).slice(0, 24_576 - dice.below(40));
      for (let n = 0; n < 30; n += 1) text += dice.pick(AWKWARD);
      expect(joined(long(text).json()) === JSON.stringify(text)).toBe(true);
    }
  });

  test('bytes that are not text are base64, in any number', () => {
    const dice = makeDice(7);
    for (const size of [0, 1, 2, 3, 24_575, 24_576, 24_577, 24_578, 100_000]) {
      const bytes = Buffer.from(Array.from({ length: size }, () => dice.below(256)));
      expect(joined(new LongText(bytes, 'base64').json()) === JSON.stringify(bytes.toString('base64'))).toBe(true);
    }
  });

  test('no piece has more than 24 KiB', () => {
    const pieces = [...long('\u0001'.repeat(200_000)).json()];
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(24 * 1024 * 6 + 1);
  });
});

describe('an object', () => {
  const members = { a: 1, none: null, list: [1, '"'], deep: { x: '\0' } };
  test.each([
    [{}, {}],
    [members, members],
    [{ body: long('x"') }, { body: 'x"' }],
    [
      { ...members, body: long('é'), z: false, left: undefined },
      { ...members, body: 'é', z: false, left: undefined },
    ],
    [
      { first: long(''), second: long('2') },
      { first: '', second: '2' },
    ],
  ])('is written as JSON.stringify writes it: %j', (held, plain) => {
    expect(joined(objectJson(held))).toBe(JSON.stringify(plain));
  });
});

describe('a list', () => {
  test.each([[[]], [[1]], [[1, 2, 3]]])('of %j', (items) => {
    expect(joined(listJson(items, (n) => ({ n })))).toBe(JSON.stringify(items.map((n) => ({ n }))));
  });

  test('presents each item on demand', () => {
    const made: number[] = [];
    const pieces = listJson([1, 2, 3], (n) => ({ n: made.push(n) }));
    pieces.next();
    expect(made).toEqual([1]);
  });
});

test('slices join to the same text in fewer pieces, none empty', () => {
  const pieces = ['', 'a', '', 'b'.repeat(20_000), 'c', ''];
  expect([...inSlices(pieces)]).toEqual([`a${'b'.repeat(20_000)}`, 'c']);
  expect([...inSlices(['', ''])]).toEqual([]);
});
