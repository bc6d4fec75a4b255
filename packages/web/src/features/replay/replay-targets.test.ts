import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { defaultUrl, lastTargetOf, placeholderNote, MAX_ENDPOINTS, MAX_TARGETS, withTarget } from './replay-targets.ts';
import type { ReplayTargets } from './replay-targets.ts';

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
  expect(defaultUrl(at(target), lastTargetOf(at(sent), url))).toBe(expected),
);

test.each([
  ['https://example.com/', true],
  ['http://EXAMPLE.com.:8080/x', true],
  ['https://example.com.evil.test/', false],
  ['https://api.example.com/', false],
  ['nowhere', false],
])('%j is the placeholder: %j', (url, expected) => expect(placeholderNote(url) !== undefined).toBe(expected));

test('the newest destination is first and unique, and their number is limited', () => {
  let targets: ReplayTargets = {};
  for (let place = 0; place < MAX_TARGETS + 2; place++) targets = withTarget(targets, 'a', `http://t.test/${place}`);
  targets = withTarget(targets, 'a', 'http://t.test/5');
  expect(targets['a']).toHaveLength(MAX_TARGETS);
  expect(new Set(targets['a']).size).toBe(MAX_TARGETS);
  expect(targets['a']?.slice(0, 2)).toEqual(['http://t.test/5', `http://t.test/${MAX_TARGETS + 1}`]);
});

test('destinations are kept per endpoint; the least recently used endpoint is dropped', () => {
  let targets: ReplayTargets = {};
  for (let place = 0; place < MAX_ENDPOINTS; place++) targets = withTarget(targets, `uid${place}`, 'http://t.test/');
  targets = withTarget(targets, 'uid0', 'http://again.test/');
  targets = withTarget(targets, 'new', 'http://t.test/');
  expect(Object.keys(targets)).toHaveLength(MAX_ENDPOINTS);
  expect([targets['uid0']?.length, targets['uid1'], targets['new']?.length]).toEqual([2, undefined, 1]);
});

test('a URL of many kilobytes is not stored', () =>
  expect(withTarget({}, 'a', `http://t.test/${'x'.repeat(3000)}`)).toEqual({}));
