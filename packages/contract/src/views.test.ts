import { describe, expect, test } from 'vitest';
import { firstHeader } from './raw-headers.ts';
import type { RawHeaders } from './raw-headers.ts';
import { bodyBytesOf, headerMap, queryMap, queryOf, queryPairs } from './views.ts';

/** Compares entries, because an object literal can't have a property `__proto__`. */
const entries = (map: Readonly<Record<string, unknown>>) => Object.entries(map);

describe('headerMap', () => {
  test.each<[string, RawHeaders, [string, string][]]>([
    ['nothing', [], []],
    ['lower-case names, values as they are', [['X-CaSe', ' Va lue ']], [['x-case', ' Va lue ']]],
    [
      'repeats joined with a comma, in order',
      [
        ['X', 'b'],
        ['x', 'a'],
        ['X', 'b'],
      ],
      [['x', 'b, a, b']],
    ],
    [
      'cookies joined with a semicolon',
      [
        ['Cookie', 'a=1'],
        ['cookie', 'b=2'],
      ],
      [['cookie', 'a=1; b=2']],
    ],
    [
      'set-cookie like any other',
      [
        ['Set-Cookie', 'a=1, x'],
        ['Set-Cookie', 'b=2'],
      ],
      [['set-cookie', 'a=1, x, b=2']],
    ],
    [
      'empty values count',
      [
        ['x', ''],
        ['x', 'a'],
        ['x', ''],
      ],
      [['x', ', a, ']],
    ],
    [
      'names in the order of their first',
      [
        ['b', '1'],
        ['a', '2'],
        ['b', '3'],
      ],
      [
        ['b', '1, 3'],
        ['a', '2'],
      ],
    ],
    [
      '__proto__ and its like are names',
      [
        ['__proto__', 'p'],
        ['constructor', 'c'],
        ['__PROTO__', 'q'],
      ],
      [
        ['__proto__', 'p, q'],
        ['constructor', 'c'],
      ],
    ],
  ])('%s', (_what, raw, map) => {
    expect(entries(headerMap(raw))).toEqual(map);
  });

  test('changes no prototype', () => {
    headerMap([['__proto__', 'polluted']]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(headerMap([])['toString']).toBeUndefined();
  });
});

describe('queryMap', () => {
  test.each<[string, [string, string | string[]][]]>([
    ['', []],
    ['a=1', [['a', '1']]],
    ['a=1&a=2&a=3', [['a', ['1', '2', '3']]]],
    [
      'a=1&b=2&a=3',
      [
        ['a', ['1', '3']],
        ['b', '2'],
      ],
    ],
    ['a', [['a', '']]],
    ['a=&a', [['a', ['', '']]]],
    ['=x', [['', 'x']]],
    ['?a=1', [['?a', '1']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a+b=c+d', [['a b', 'c d']]],
    ['%C3%A4=%F0%9F%98%80', [['ä', '😀']]],
    ['a=%', [['a', '%']]],
    [
      'a=%zz&b=%c3',
      [
        ['a', '%zz'],
        ['b', '\uFFFD'],
      ],
    ],
    ['a%00=%00', [['a\0', '\0']]],
    ['a[]=1&a[]=2', [['a[]', ['1', '2']]]],
    ['a;b=1', [['a;b', '1']]],
    ['&&a=1&', [['a', '1']]],
    [
      '__proto__=1&__proto__=2&constructor=3',
      [
        ['__proto__', ['1', '2']],
        ['constructor', '3'],
      ],
    ],
  ])('%s', (query, map) => {
    expect(entries(queryMap(query))).toEqual(map);
  });
});

describe('firstHeader', () => {
  const raw: RawHeaders = [
    ['X-Event', 'one'],
    ['x-event', 'two'],
    ['Xevent', 'other'],
  ];
  test.each([
    ['x-event', 'one'],
    ['xevent', 'other'],
    ['x-even', undefined],
    ['x-events', undefined],
  ])('%s: %s', (name, value) => {
    expect(firstHeader(raw, name)).toBe(value);
  });
});

describe('the raw query', () => {
  test.each([
    ['no query', '/a', '', []],
    ['nothing behind the mark', '/a?', '?', []],
    [
      'order, repeats and spelling',
      '/?2=b&1=%7E&2=a+b%20c',
      '?2=b&1=%7E&2=a+b%20c',
      [
        ['2', 'b'],
        ['1', '~'],
        ['2', 'a b c'],
      ],
    ],
    ['a second mark', '?a?b=c?', '?a?b=c?', [['a?b', 'c?']]],
  ])('%s', (_, rawTarget, query, pairs) => {
    const target = { rawTarget, queryParams: queryMap(query.slice(1)) };
    expect(queryOf(target)).toBe(query);
    expect(queryPairs(target)).toEqual(pairs);
  });

  test('without the raw target, it is built from the map', () => {
    expect(queryOf({ queryParams: {} })).toBe('');
    expect(queryOf({ queryParams: { a: ['1', '2'], b: '&' } })).toBe('?a=1&a=2&b=%26');
  });
});

test.each([
  ['text', 'a\0é', 'utf8', [97, 0, 0xc3, 0xa9]],
  ['base64', '/wAB', 'base64', [255, 0, 1]],
  ['nothing', null, 'utf8', []],
] as const)('bytes of %s', (_, body, bodyEncoding, bytes) => {
  expect([...bodyBytesOf({ body, bodyEncoding })]).toEqual(bytes);
});
