import type { FoundRequest } from '@creel/contract';
import { expect, test } from 'vitest';
import { markPieces } from '../../bodies/find-text.ts';
import { excerpt, hitsIn, searchHit, searchedText } from './search-hits.ts';

const marked = (text: string, query: string): string =>
  markPieces(text, 0, hitsIn(text, query))
    .map((part) => (part.ordinal === undefined ? part.text : `[${part.text}]`))
    .join('');

test.each([
  ['refs/heads/main', 'HEADS', 'refs/[heads]/main'],
  ['aaa', 'a', '[a][a][a]'],
  ['abab', 'ab', '[ab][ab]'],
  ['nothing', 'x', 'nothing'],
  ['text', '', 'text'],
  ['', 'x', ''],
  ['a.c abc', 'a.c', '[a.c] abc'],
  ['<b>', '<', '[<]b>'],
  // Only ASCII is folded, like the search on the server, so that positions don't change.
  ['İstanbul ISTANBUL', 'istanbul', 'İstanbul [ISTANBUL]'],
  ['Äpfel äpfel', 'äpfel', 'Äpfel [äpfel]'],
  ['שלום webhook', 'WEBHOOK', 'שלום [webhook]'],
])('%s, searched for %s', (text, query, expected) => {
  expect(marked(text, query)).toBe(expected);
});

test('an excerpt is one line around the first match, with ellipses', () => {
  expect(excerpt('short hit', 'HIT')).toBe('short hit');
  expect(excerpt(`${'a'.repeat(100)}hit${'b'.repeat(300)}`, 'hit')).toBe(`…${'a'.repeat(16)}hit${'b'.repeat(160)}…`);
  expect(excerpt('one\n\n  two', 'two')).toBe('one two');
  expect(excerpt('nothing', 'x')).toBeUndefined();
});

const found: FoundRequest = {
  id: -1_000_000,
  index: 0,
  endpointId: 1,
  endpointUid: 'abc',
  method: 'POST',
  path: '/orders',
  queryParams: { tag: ['one', 'two words'] },
  headers: {},
  rawHeaders: [['X-GitHub-Event', 'push']],
  body: '{"ref":"refs/heads/main"}',
  bodyEncoding: 'utf8',
  bodyTruncated: false,
  contentType: null,
  size: 25,
  sourceIp: '127.0.0.1',
  timestamp: '2026-11-21T12:00:00.000Z',
  saved: false,
  source: 'GitHub',
  eventType: 'push',
  lastDelivery: null,
  deliveryPending: false,
};

test.each([
  ['two words', { place: 'Query', text: 'tag=one&tag=two words' }],
  ['x-github', { place: 'Header', text: 'X-GitHub-Event: push' }],
  ['heads', { place: 'Body', text: '{"ref":"refs/heads/main"}' }],
  ['ORDERS', undefined],
  ['post', undefined],
])('%s is found', (q, hit) => {
  expect(searchHit(found, q)).toEqual(hit);
});

test('a match in a path, a header or a body is shown as decoded text', () => {
  const path = { ...found, path: '/caf%C3%A9/a%20b' };
  expect(searchHit(path, 'é/a b')).toEqual({ place: 'Path', text: '/café/a b' });
  const header = { ...found, rawHeaders: [['X-Name', 'w\u00c3\u00b6rld']] satisfies [string, string][] };
  expect(searchHit(header, 'wörld')).toEqual({ place: 'Header', text: 'X-Name: wörld' });
  const binary = { ...found, body: btoa('heads\xff'), bodyEncoding: 'base64' as const };
  expect(searchHit(binary, 'HEADS')).toEqual({ place: 'Body', text: 'heads\ufffd' });
});

test('a match beyond the loaded part of the body is reported, and none if the whole body is text without it', () => {
  expect(searchHit({ ...found, bodyTruncated: true }, 'far away')?.text).toBe('further down in the body');
  expect(searchHit({ ...found, body: 'aGVhZHM=', bodyEncoding: 'base64' }, 'GVhZ')?.text).toBe('in the decoded body');
  expect(searchHit(found, 'elsewhere')).toBeUndefined();
});

test.each([
  ['heads', 'heads'],
  ['method:POST (a OR b)', 'a'],
  ['-a body:"b c"', 'b c'],
  ['-a', ''],
  ['path:/x', ''],
  ['"a', ''],
])('the text of %s is marked in its results', (q, text) => expect(searchedText(q)).toBe(text));
