import type { RawHeaders } from '@creel/contract';
import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { toHar } from './bulk/export-files.ts';
import { sendable } from './sendable.ts';
import type { Sendable } from './sendable.ts';
import { quoteLatin1, quoteText, tryItSnippet, WRITERS } from './write-snippet.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const URL_OF = 'http://localhost:3000/h/uid';

function sent(body: Uint8Array<ArrayBuffer>, headers: RawHeaders = [], method = 'POST'): Sendable {
  return sendable(sampleRequest(0, { method, rawHeaders: headers }), URL_OF, body);
}

test.each([
  ['a plain word', 'a/b:c', 'a/b:c'],
  ['nothing', '', "''"],
  ['spaces and money', 'a $b', "'a $b'"],
  ['a quote', "it's", String.raw`'it'\''s'`],
  ['line feeds', 'a\nb', "'a\nb'"],
  ['an escape sequence', '\u001b[31m', String.raw`$'\x1b[31m'`],
  ['a tab and a backslash', '\t\\', String.raw`$'\x09\\'`],
  ['words of other languages', 'é 😀', "'é 😀'"],
])('shell: %s', (_, text, quoted) => expect(quoteText(text)).toBe(quoted));

test('shell: bytes beyond ASCII are kept', () => expect(quoteLatin1('é')).toBe(String.raw`$'\xe9'`));

test('raw HTTP: binary bodies are counted', () => {
  expect(WRITERS.http(sent(Uint8Array.of(255)))).toMatch(/\[1 byte of binary data\]$/);
  expect(WRITERS.http(sent(Uint8Array.of(0, 255)))).toMatch(/\[2 bytes of binary data\]$/);
});

test('connection headers are left out, the rest keeps case, order and repeats', () => {
  const headers: RawHeaders = [
    ['Host', 'x'],
    ['X-B', '1'],
    ['Content-Length', '2'],
    ['x-a', '2'],
    ['X-B', '3'],
    ['Connection', 'close'],
  ];
  expect(sent(utf8('hi'), headers).headers).toEqual([
    ['X-B', '1'],
    ['x-a', '2'],
    ['X-B', '3'],
  ]);
});

test('the path follows the capture URL as sent', () => {
  const rawTarget = '/a/../%zz?b=%7e&a=x%20y+z&b';
  const request = sampleRequest(0, { path: '/a/../%zz', rawTarget, queryParams: { b: ['~', ''], a: 'x y z' } });
  expect(sendable(request, URL_OF, utf8('')).url).toBe(URL_OF + rawTarget);
  expect(sendable(sampleRequest(0, { rawTarget: '' }), URL_OF, utf8('')).url).toBe(URL_OF);
  expect(sendable(sampleRequest(0, { rawTarget: '/' }), URL_OF, utf8('')).url).toBe(`${URL_OF}/`);
});

test('cURL: repeated headers, none of its own, text as sent', () => {
  expect(
    WRITERS.curl(
      sent(utf8("{'a'}"), [
        ['X-A', '1'],
        ['x-a', ''],
        ['Accept', '*/*'],
      ]),
    ),
  ).toBe(
    [
      `curl -X POST ${URL_OF}`,
      "-H 'X-A: 1'",
      "-H 'x-a;'",
      "-H 'Accept: */*'",
      "-H 'User-Agent:'",
      "-H 'Content-Type:'",
      String.raw`--data-raw '{'\''a'\''}'`,
    ].join(' \\\n  '),
  );
});

test.each([
  ['no body', sent(utf8(''), [], 'GET'), /^curl http/],
  ['HEAD', sent(utf8(''), [], 'HEAD'), /^curl --head http/],
  ['a body of GET', sent(utf8('x'), [], 'GET'), /^curl -X GET .*--data-raw x$/s],
  ['bytes', sent(Uint8Array.of(0, 255)), /^base64 --decode <<'BODY' \| curl .*--data-binary @-\nAP8=\nBODY$/s],
  ['text too long for an argument', sent(utf8('x'.repeat(200_000))), /^base64 --decode/],
  ['dots in the path', sendable(sampleRequest(0, { path: '/a/../b' }), URL_OF, utf8('')), /--path-as-is/],
  ['brackets in the path', sendable(sampleRequest(0, { path: '/[1]' }), URL_OF, utf8('')), /--globoff/],
])('cURL: %s', (_, request, shape) => expect(WRITERS.curl(request)).toMatch(shape));

test('HTTPie: values that look like its own syntax', () => {
  expect(
    WRITERS.httpie(
      sent(utf8('x'), [
        ['A', '=1'],
        ['B', '@f'],
        ['C', ''],
      ]),
    ),
  ).toContain(String.raw`'A:\=1'`);
});

test('fetch: repeated headers, bytes as base64', () => {
  const code = WRITERS.fetch(
    sent(Uint8Array.of(0, 255), [
      ['A', '1'],
      ['A', '2'],
    ]),
  );
  expect(code).toContain('    ["A", "1"],\n    ["A", "2"],');
  expect(code).toContain("atob('AP8=')");
});

test('Python: standard library, text as text', () => {
  const code = WRITERS.python(sent(utf8('é"\n')));
  expect(code).toContain('http.client.HTTPConnection("localhost:3000")');
  expect(code).toContain(String.raw`body = "é\"\n".encode()`);
});

test('raw HTTP has the host and the length of the body', () => {
  expect(WRITERS.http(sent(utf8('hi'), [['A', '1']]))).toBe(
    'POST /h/uid HTTP/1.1\r\nHost: localhost:3000\r\nA: 1\r\nContent-Length: 2\r\n\r\nhi',
  );
});

test.each(['curl', 'fetch', 'httpie', 'python'] as const)('a first request with %s', (name) => {
  expect(tryItSnippet(name, URL_OF)).toContain('localhost:3000');
});

test('the first request with curl works with old versions of curl', () => {
  expect(tryItSnippet('curl', URL_OF).split(' \\\n  ')).toEqual([
    `curl ${URL_OF}`,
    "-H 'Content-Type: application/json'",
    `-d '{"hello":"world"}'`,
  ]);
});

test('HAR: every header, bytes as base64, parsed query', () => {
  const request = sampleRequest(7, {
    rawHeaders: [
      ['A', '1'],
      ['a', '2'],
    ],
    queryParams: { q: ['1', '2'] },
    contentType: 'x/y',
    body: '/w==',
    bodyEncoding: 'base64',
    size: 1,
  });
  const { entries } = JSON.parse(toHar([request], URL_OF)).log;
  expect(entries[0].request).toMatchObject({
    url: `${URL_OF}?q=1&q=2`,
    headers: [
      { name: 'A', value: '1' },
      { name: 'a', value: '2' },
    ],
    queryString: [
      { name: 'q', value: '1' },
      { name: 'q', value: '2' },
    ],
    postData: { mimeType: 'x/y', text: '/w==', encoding: 'base64' },
  });
});
