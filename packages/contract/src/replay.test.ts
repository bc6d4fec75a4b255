import { describe, expect, test } from 'vitest';
import type { RawHeaders } from './raw-headers.ts';
import { endToEndHeaders } from './raw-headers.ts';
import { replaySchema } from './replay.ts';

const order = { method: 'POST', url: 'http://target.example/' };
const mistakesOf = (input: object): Record<string, string> =>
  Object.fromEntries(
    (replaySchema.safeParse({ ...order, ...input }).error?.issues ?? []).map(({ path, message }) => [
      path.join('.'),
      message,
    ]),
  );

describe('the destination', () => {
  const INVALID = { url: 'Please enter a valid URL' };
  test.each([
    ['an overflowing decimal', 'http://4294967296/'],
    ['an overflowing octet', 'http://256.256.256.256/'],
    ['a bad octal', 'http://09.0.0.1/'],
    ['five parts', 'http://1.2.3.4.5/'],
    ['no scheme', '//127.0.0.1/'],
    ['a NUL', 'http://good.example/\0'],
    ['an encoded NUL in the host', 'http://127.0.0.1%00.good.example/'],
    ['a zone id', 'http://[fe80::1%25eth0]/'],
    ['a file', 'file:///etc/passwd'],
    ['gopher', 'gopher://127.0.0.1:6379/_x'],
    ['ftp', 'ftp://127.0.0.1/'],
    ['dict', 'dict://127.0.0.1:11211/'],
    ['a web socket', 'ws://127.0.0.1/'],
    ['data', 'data:text/plain,x'],
    ['a script', 'javascript:alert(1)'],
    ['a jar', 'jar:http://127.0.0.1!/'],
    ['a Unix socket', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/x'],
    ['port 0', 'http://good.example:0/'],
    ['a port that is none', 'http://good.example:65536/'],
    ['a label that no name can have', `http://${'a'.repeat(300)}.com/`],
    ['more than a request line can hold', `http://good.example/${'a'.repeat(80_000)}`],
  ])('%s is refused', (_what, url) => {
    expect(mistakesOf({ url })).toEqual(INVALID);
  });

  test.each(['http://user:pass@good.example/', 'http://user@good.example/', 'http://good.example@127.0.0.1/'])(
    'a name or a password in %s is refused with what to do instead',
    (url) => {
      expect(mistakesOf({ url })['url']).toMatch(/Authorization header/);
    },
  );
});

test.each([
  ['POST', true],
  ['PROPFIND', true],
  ['x-own', true],
  ['CONNECT', false],
  ['Trace', false],
  ['', false],
  ['GET / HTTP/1.1\r\nX:', false],
  ['GET ', false],
  ['A'.repeat(41), false],
  [7, false],
])('the method %j can be sent: %s', (method, isGood) => {
  expect(Object.keys(mistakesOf({ method }))).toEqual(isGood ? [] : ['method']);
});

describe('headers', () => {
  const headersOf = (headers: unknown): RawHeaders => replaySchema.parse({ ...order, headers }).headers;

  test('keep a million spaces within a value, in linear time', () => {
    const value = `a${' '.repeat(1_000_000)}b`;
    expect(headersOf([{ key: 'a', value: `\t ${value} ` }])).toEqual([['a', value]]);
  });

  test('keep case, order and repeats; an empty name or value drops a header', () => {
    const headers = [
      { key: 'X-B', value: '1' },
      { key: '', value: 'nobody' },
      { key: 'x-a', value: '' },
      { key: '  ', value: ' ' },
      { key: ' X-B ', value: '\t2 ' },
      { key: '__proto__', value: '3' },
    ];
    expect(headersOf(headers)).toEqual([
      ['X-B', '1'],
      ['X-B', '2'],
      ['__proto__', '3'],
    ]);
    expect(headersOf({ 'X-B': '1', empty: '' })).toEqual([['X-B', '1']]);
    expect(headersOf(JSON.parse('{"b":"1","__proto__":"2","a":"3"}'))).toEqual([
      ['b', '1'],
      ['__proto__', '2'],
      ['a', '3'],
    ]);
    expect(headersOf(undefined)).toEqual([]);
  });

  test.each([
    ['a line break in a value', { key: 'a', value: 'b\r\nX: y' }],
    ['a line feed alone', { key: 'a', value: 'b\nX: y' }],
    ['NUL', { key: 'a', value: 'b\0' }],
    ['what is no byte', { key: 'a', value: '€' }],
    ['a line break in a name', { key: 'a\r\nb', value: 'c' }],
    ['a space in a name', { key: 'a b', value: 'c' }],
    ['a line break behind a name', { key: 'a\r\n', value: 'c' }],
    ['a space that is none, before a name', { key: '\u00a0a', value: 'c' }],
    ['a colon in a name', { key: 'a:', value: 'c' }],
    ['the name of HTTP/2', { key: ':authority', value: 'c' }],
  ])('%s is refused', (_what, header) => {
    expect(Object.keys(mistakesOf({ headers: [{ key: 'x', value: 'y' }, header] }))).toEqual(['headers']);
  });

  test('a list is read up to its first wrong item', () => {
    const later = {
      get key(): string {
        throw new Error('read');
      },
      value: '',
    };
    for (const headers of [[1, later], { a: 1, b: 1 }, [{ key: 'a', value: 1 }, later]])
      expect(mistakesOf({ headers })).toEqual({ headers: 'headers must be a list of { key, value }, or an object.' });
  });

  test('more than a request can have are refused, and not checked one by one', () => {
    const many = Array.from({ length: 16_385 }, (_, at) => [`a${at}`, 'b']);
    for (const headers of [Object.fromEntries(many), many.map(() => 7)])
      expect(mistakesOf({ headers })).toEqual({ headers: 'headers must have at most 16384 entries.' });
    expect(headersOf(Object.fromEntries(many.slice(1)))).toHaveLength(16_384);
  });

  test('a value may contain any Latin-1 character', () => {
    const value = 'caf\u00e9\u00ff\ttab';
    expect(headersOf([{ key: 'a', value }])).toEqual([['a', value]]);
  });
});

test.each([
  [{ body: 7 }, 'body'],
  [{ bodyEncoding: 'hex' }, 'bodyEncoding'],
  [{ bodyFrom: 'x' }, 'bodyFrom'],
  [{ bodyFrom: { endpointUid: 'a', id: 1.5 } }, 'bodyFrom.id'],
  [{ bodyFrom: { endpointUid: 'a', id: 1e300 } }, 'bodyFrom.id'],
])('%j has its own error message', (input, field) => {
  expect(mistakesOf(input)).toEqual({ [field]: expect.stringMatching(/^(The body|bodyEncoding|bodyFrom) must /) });
});

test.each([
  ['aGk=', true],
  ['', true],
  ['aGk', true],
  ['not base64!', false],
  ['A', false],
  ['AAA==', false],
  ['AA==', true],
  ['AA=', false],
  ['AAAA==', false],
])('the base64 body %j is accepted: %s', (body, isGood) => {
  expect(Object.keys(mistakesOf({ body, bodyEncoding: 'base64' }))).toEqual(isGood ? [] : ['body']);
});

test('hop-by-hop headers and those that Connection names are not forwarded (RFC 9110, section 7.6.1)', () => {
  const kept: RawHeaders = [
    ['Content-Type', 'a/b'],
    ['X-Twice', '1'],
    ['x-twice', '2'],
    ['Cookie', 'a=b'],
    ['Authorization', 'Bearer c'],
  ];
  const dropped: RawHeaders = [
    ['Host', 'h'],
    ['CONTENT-LENGTH', '3'],
    ['Connection', 'keep-alive, X-Hop'],
    ['connection', 'X-Other'],
    ['x-hop', '1'],
    ['X-Other', '1'],
    ['Keep-Alive', 'timeout=5'],
    ['Proxy-Connection', 'close'],
    ['Proxy-Authorization', 'Basic x'],
    ['TE', 'trailers'],
    ['Trailer', 'X'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'x'],
    ['Expect', '100-continue'],
  ];
  expect(endToEndHeaders([...dropped, ...kept])).toEqual(kept);
});
