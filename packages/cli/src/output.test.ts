import type { CapturedRequest } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import { sampleEndpoint } from '../../../fixtures/sample-endpoint.ts';
import { sampleRequest } from '../../../fixtures/sample-request.ts';
import {
  captureLine,
  endpointLines,
  isPlainText,
  jsonLine,
  requestText,
  displayTarget,
  visible,
  visibleText,
} from './output.ts';

const escapes: [text: string, shown: string][] = [
  ['plain ünïcode 漢字 🎣', 'plain ünïcode 漢字 🎣'],
  ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
  ['\x1b]0;title\x07', '\\x1b]0;title\\x07'],
  ['\x9b31m', '\\x9b31m'],
  ['a\r\nb\tc\0', 'a\\r\\nb\\tc\\x00'],
  ['\x7f\b', '\\x7f\\x08'],
  ['\u202Egnp.exe', '\\u{202e}gnp.exe'],
  ['\u2028\u2029', '\\u{2028}\\u{2029}'],
  ['\uD800', '\\u{d800}'],
  ['\\x1b', '\\x1b'],
];

test.each(escapes)('%j on a line', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('text keeps line feeds and tabs, but no other control characters', () => {
  expect(visibleText('a\n\tb\r\n\x1b[2J')).toBe('a\n\tb\\r\n\\x1b[2J');
});

test('JSON escapes control characters and keeps its value', () => {
  const value = { body: '\x1b \x7f \x9b \u202e \u2028 \ud800 ü' };
  const line = jsonLine(value);
  expect(line).toBe('{"body":"\\u001b \\u007f \\u009b \\u202e \\u2028 \\ud800 ü"}\n');
  expect(JSON.parse(line)).toEqual(value);
});

describe('plain text', () => {
  test.each(['', 'a', 'ü\r\n\t{}\n', '👩‍👩‍👧'])('%j', (text) => expect(isPlainText(Buffer.from(text))).toBe(true));
  test.each(['\x1b[2J', 'a\rb', '\0', '\x9b', '\u202e'])('not %j', (text) =>
    expect(isPlainText(Buffer.from(text))).toBe(false),
  );
  test('not invalid UTF-8', () => expect(isPlainText(Buffer.from([0x61, 0xff]))).toBe(false));
});

const request = (given: Partial<CapturedRequest>): CapturedRequest => ({
  ...sampleRequest(7, { timestamp: '2026-01-02T03:04:05.678Z', rawHeaders: [] }),
  path: '/a',
  size: 3,
  ...given,
});

test.each<[Pick<CapturedRequest, 'path' | 'rawTarget' | 'queryParams'>, string]>([
  [{ path: '/%zz', queryParams: {} }, '/%zz'],
  [{ path: '/', queryParams: { a: ['1', '2 3'], b: '' } }, '/?a=1&a=2+3&b='],
  [{ path: '/', rawTarget: '?b=%20&a', queryParams: { b: ' ', a: '' } }, '/?b=%20&a'],
])('target of %j', (given, target) => expect(displayTarget(given)).toBe(target));

test('a capture is always one line', () => {
  expect(captureLine(request({}))).toBe('2026-01-02T03:04:05.678Z      7  POST    /a  3 B\n');
  expect(captureLine(request({ path: '/\x1b[2J\n', method: 'X\x9b' }))).toBe(
    '2026-01-02T03:04:05.678Z      7  X\\x9b      /\\x1b[2J\\n  3 B\n',
  );
});

test('a request is shown with its raw headers, and with its body if it is text', () => {
  const rawHeaders: [string, string][] = [
    ['X-B', '1'],
    ['x-a', '\x9bz'],
    ['X-B', '2'],
  ];
  const head = 'POST /a?q=1\nX-B: 1\nx-a: \\x9bz\nX-B: 2\n\n';
  const given = { rawHeaders, queryParams: { q: '1' } };
  expect(requestText(request(given))).toBe(head);
  expect(requestText(request({ ...given, body: 'line\n\x1b[0m' }))).toBe(`${head}line\n\\x1b[0m\n`);
  expect(requestText(request({ ...given, body: 'line\n' }))).toBe(`${head}line\n`);
  expect(requestText(request({ ...given, body: '/w==', bodyEncoding: 'base64' }))).toBe(head);
});

test('endpoints are shown in columns, with their names last', () => {
  const at = '2026-01-02T00:00:00.000Z';
  const all = [
    sampleEndpoint(),
    sampleEndpoint({ uid: 'd', requestCount: 12, expiresAt: at, url: 'http://x/h/d', name: 'a \u202eb' }),
  ];
  expect(endpointLines(all, Date.parse(at))).toBe(
    'abc  0 stored   never expires                     http://x/h/abc\n' +
      'd    12 stored  expired 2026-01-02T00:00:00.000Z  http://x/h/d    a \\u{202e}b\n',
  );
  expect(endpointLines(all, 0)).toContain('expires 2026-01-02');
  expect(endpointLines([], 0)).toBe('');
});
