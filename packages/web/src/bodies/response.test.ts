import { MAX_REPLAY_RESPONSE_BYTES } from '@creel/contract';
import type { ReplayAnswer } from '@creel/contract';
import { expect, test } from 'vitest';
import { responseSource, redirectOf, truncationNote } from './response.ts';

const location = (status: number, value: string) => ({ status, headers: [{ key: 'LOCATION', value }] });

test.each([
  ['relative', '../next?a=1', 'http://t.test/next?a=1'],
  ['absolute', 'https://else.test/', 'https://else.test/'],
  ['nothing that can be sent to', 'javascript:alert(1)', undefined],
  ['no URL', 'http://', undefined],
])('a redirect that is %s', (_, value, url) =>
  expect(redirectOf(location(302, value), 'http://t.test/a/b')).toEqual({ location: value, url }),
);

test('only a 3xx with a Location is a redirect', () => {
  expect(redirectOf(location(201, '/a'), 'http://t.test/')).toBeUndefined();
  expect(redirectOf({ status: 304, headers: [] }, 'http://t.test/')).toBeUndefined();
});

const ANSWER: ReplayAnswer = {
  status: 200,
  statusText: 'OK',
  headers: [
    { key: 'Content-Encoding', value: 'gzip' },
    { key: 'content-encoding', value: 'br' },
    { key: 'Content-Type', value: 'text/plain' },
  ],
  body: '/wA=',
  bodyEncoding: 'base64',
  bodyTruncated: true,
  durationMs: 1,
};

test('the body is parsed by its bytes, its codings in order, and its type', () => {
  expect(responseSource(ANSWER)).toMatchObject({
    bytes: Uint8Array.of(255, 0),
    complete: false,
    contentEncoding: 'gzip, br',
    contentType: 'text/plain',
  });
  expect(responseSource({ ...ANSWER, headers: [], body: null, bodyTruncated: false })).toMatchObject({
    bytes: new Uint8Array(),
    complete: true,
    contentEncoding: '',
    contentType: null,
  });
});

test('the reason for a truncated body follows from its size', () => {
  expect(truncationNote(ANSWER, MAX_REPLAY_RESPONSE_BYTES)).toContain('1 MiB');
  expect(truncationNote(ANSWER, MAX_REPLAY_RESPONSE_BYTES - 3)).toContain('1 MiB');
  expect(truncationNote(ANSWER, 2)).toContain('stopped sending');
  expect(truncationNote({ bodyTruncated: false }, 2)).toBeUndefined();
});
