import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { defaultUrl, destinationOf, placeholderNote } from './destination-url.ts';

const at = (rawTarget: string) =>
  sampleRequest(3, { path: rawTarget.replace(/\?.*$/, '') || '/', rawTarget, queryParams: {} });

test.each([
  ['path and query as sent', '/a/../b%7e?b=1&a=%20+&b', 'https://example.com/a/../b%7e?b=1&a=%20+&b'],
  ['nothing', '', 'https://example.com/'],
  ['a query alone', '?a=1', 'https://example.com/?a=1'],
  ['a path that begins with http', 'http://shop.test/hook?x=1', 'http://shop.test/hook?x=1'],
  ['bytes that no URL holds', '/cafÃ© #1', 'https://example.com/caf%C3%A9%20%231'],
  ['a host cannot be slipped in', '.evil.test/', 'https://example.com/.evil.test/'],
])('before any replay: %s', (_, target, url) => expect(defaultUrl(at(target), undefined)).toBe(url));

test.each([
  ['the host', '/a', 'http://app:3000/a', '/b/c?x=1&y', 'http://app:3000/b/c?x=1&y'],
  ['the host, for no path', '/a', 'http://app:3000/a', '?x=1', 'http://app:3000/?x=1'],
  ['a path before the captured one', '/a/b', 'http://h.test/api/a/b?x=2', '/c', 'http://h.test/api/c'],
  ['a path, if none was captured', '', 'http://h.test/hooks/', '/c', 'http://h.test/hooks/c'],
  ['a path, if there is none to append', '/a', 'http://h.test/hooks/a', '?x=1', 'http://h.test/hooks?x=1'],
  ['only the host, if the path was replaced', '/a', 'http://h.test/other', '/c', 'http://h.test/c'],
  ['a replaced path, for the same path', '/a?x=1', 'http://h.test/other?x=1', '/a?x=2', 'http://h.test/other?x=2'],
  ['a base that is not a URL of the sender', '/a', 'http://h.test/a', '.evil.test/', 'http://h.test/.evil.test/'],
])('after a replay: %s', (_, sent, url, target, expected) =>
  expect(defaultUrl(at(target), destinationOf(at(sent), url))).toBe(expected),
);

test.each([
  ['https://example.com/', true],
  ['http://EXAMPLE.com.:8080/x', true],
  ['https://example.com.evil.test/', false],
  ['https://api.example.com/', false],
  ['nowhere', false],
])('%j is the placeholder: %j', (url, expected) => expect(placeholderNote(url) !== undefined).toBe(expected));
