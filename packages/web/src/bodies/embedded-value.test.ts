import { expect, test } from 'vitest';
import { embeddedIn } from './embedded-value.ts';

const base64 = (text: string): string => btoa(text);
const url64 = (text: string): string => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

test.each([
  ['an object', '{"a": 1}', { kind: 'json', text: '{"a": 1}' }],
  ['an array', ' [1]\n', { kind: 'json', text: ' [1]\n' }],
  ['broken JSON', '{"a": }', undefined],
  ['a template', '{{name}}', undefined],
  ['words', 'a line of plain words', undefined],
  ['more JSON than is examined', `[${' '.repeat(256 * 1024)}]`, undefined],
])('a string with %s', (_, value, expected) => expect(embeddedIn(value, false, 'message')).toEqual(expected));

test('a JSON Web Token is shown as header and payload', () => {
  const token = `${url64('{"alg":"HS256"}')}.${url64('{"sub":"marta"}')}.c2ln`;
  const expected = { kind: 'jwt', header: '{"alg":"HS256"}', payload: '{"sub":"marta"}' };
  expect(embeddedIn(token, false, 'token')).toEqual(expected);
  expect(embeddedIn(`Bearer ${token}`, false, 'authorization')).toEqual(expected);
  expect(embeddedIn(`${url64('{"alg"')}.${url64('{}')}.c2ln`, false, 'token')).toBeUndefined();
});

test.each([
  ['text', base64('a line of text'), 'a line of text'],
  ['JSON', base64('{"order":"A-1042"}'), '{"order":"A-1042"}'],
  ['text without padding, url alphabet', url64('~~~ a line ???'), '~~~ a line ???'],
  ['an image', `data:image/gif;base64,${base64('GIF89a, and more bytes')}`, 'GIF89a, and more bytes'],
])('base64 of %s is decoded', (_, value, text) =>
  expect(embeddedIn(value, false, 'data')).toMatchObject({ kind: 'base64', text }),
);

test('base64 of known binary data is decoded, random identifiers are not', () => {
  const gzip = btoa('\x1F\x8B\b\0\0\0\0\0\0\x03\xFF\xFE');
  expect(embeddedIn(gzip, false, 'data')).toMatchObject({ kind: 'base64', text: undefined });
  const ids = ['cus_9s6XKzkNRiz8i3', 'in_1SHq2mKZx9TideWatch00001', 'evt_1SHq2pKZx9TideWatch00042'];
  expect(ids.filter((id) => embeddedIn(id, false, 'data') !== undefined)).toEqual([]);
  expect(embeddedIn('d41d8cd98f00b204e9800998ecf8427e', false, 'md5')).toBeUndefined();
  expect(embeddedIn('authentication', false, 'scope')).toBeUndefined();
});

test.each([
  ['1795242117', true, 'created', '2026-11-21T06:21:57.000Z'],
  ['1795242117123', true, 'createdAt', '2026-11-21T06:21:57.123Z'],
  ['1355517523.000005', false, 'event_ts', '2012-12-14T20:38:43.000Z'],
  ['1795242117', true, undefined, '2026-11-21T06:21:57.000Z'],
  ['1795242117', true, 'id', undefined],
  ['1795242117', true, 'customer_id', undefined],
  ['1795242117', true, 'userId', undefined],
  ['1795242117', false, 'phone', undefined],
  ['1250', true, 'created', undefined],
  ['179524211', true, 'created', undefined],
  ['1.795242117e9', true, 'created', undefined],
])('%s (number: %s) of %s is the time %s', (value, isNumber, key, iso) =>
  expect(embeddedIn(value, isNumber, key)).toEqual(iso === undefined ? undefined : { kind: 'time', iso }),
);
