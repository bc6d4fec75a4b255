import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../../fixtures/sample-request.ts';
import { viewPlain } from '../../../bodies/view-body.ts';
import { messageText, decodedPath, defaultTab, isSearchable } from './tab-content.ts';

const URL_OF = 'https://creel.example/h/uid';
const view = (bytes: Uint8Array<ArrayBuffer>) =>
  viewPlain({ bytes, complete: true, contentEncoding: undefined, contentType: null, limit: 1000 });

test('a message has the request line, the headers in order and case, and the body', () => {
  const request = sampleRequest(0, {
    method: 'PUT',
    path: '/a',
    rawTarget: '/a?b=%7e&a',
    rawHeaders: [
      ['X-b', '1'],
      ['x-A', 'Ã©'],
      ['X-b', '2'],
    ],
    size: 5,
  });
  expect(messageText(request, URL_OF, view(new TextEncoder().encode('l1\nl2')))).toBe(
    'PUT /h/uid/a?b=%7e&a\nX-b: 1\nx-A: é\nX-b: 2\n\nl1\nl2',
  );
});

test('binary bodies are counted, encoded ones named, and an absent body is omitted', () => {
  const end = (size: number, shown: Parameters<typeof messageText>[2]) =>
    messageText(sampleRequest(0, { rawTarget: '', size }), URL_OF, shown);
  expect(end(1, view(Uint8Array.of(255)))).toBe('POST /h/uid\nHost: localhost\n\n[1 byte]');
  const coding = { name: 'gzip', decodedSize: 2, problem: undefined, cut: false };
  expect(end(1200, { ...view(Uint8Array.of(65, 65)), coding })).toContain('\n\n[1,200 bytes, coded as gzip]');
  expect(end(0, undefined)).toBe('POST /h/uid\nHost: localhost\n\n');
});

test.each([
  ['/plain', undefined],
  ['/caf%C3%A9%20%2F', '/café /'],
  ['/100%', undefined],
  ['/%ff', undefined],
  ['/a%0Ab', undefined],
  ['/a%E2%80%AEb', String.raw`/a\u202eb`],
])('%s is decoded to %s', (path, decoded) => expect(decodedPath(path)).toBe(decoded));

test.each([
  ['no body', 0, 'application/json', false, 'headers'],
  ['JSON by its type', 3, 'application/vnd.api+json', false, 'json'],
  ['text', 3, 'text/plain', true, 'raw'],
  ['XML', 3, 'application/xml', true, 'raw'],
  ['HTML', 3, 'application/xhtml+html', true, 'raw'],
  ['no type, JSON inside', 3, null, true, 'json'],
  ['no type, no JSON', 3, null, false, 'raw'],
  ['another type, JSON inside', 3, 'application/octet-stream', true, 'json'],
])('default tab: %s', (_, size, type, json, tab) => expect(defaultTab(size, type, () => json)).toBe(tab));

test.each([
  ['', null, ['headers', 'raw']],
  ['plain', 'text/plain', ['headers', 'raw']],
  ['{"a":1}', 'text/plain', ['headers', 'json', 'raw']],
  ['{"a":', null, ['headers', 'json', 'raw']],
  ['a=1&b=2', 'application/x-www-form-urlencoded', ['headers']],
  ['--x\r\n\r\na\r\n--x--', 'multipart/mixed; boundary=x', ['headers']],
  ['a\0b', null, ['headers']],
])('the body %j of the type %s can be searched where its text is shown', (body, contentType, expected) => {
  const bytes = new TextEncoder().encode(body);
  const request = { size: bytes.length, contentType };
  const shown = viewPlain({ bytes, complete: true, contentEncoding: undefined, contentType, limit: 1000 });
  const where = (['headers', 'query', 'json', 'raw', 'deliveries'] as const).filter((tab) =>
    isSearchable(request, shown, tab, undefined),
  );
  expect(where).toEqual(expected);
  expect(isSearchable(request, shown, 'raw', 'text')).toBe(true);
  expect(isSearchable(request, shown, 'raw', 'hex')).toBe(false);
});
