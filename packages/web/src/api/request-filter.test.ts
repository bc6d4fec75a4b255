import type { CapturedRequest } from '@creel/contract';
import { expect, test } from 'vitest';
import { addLive, applyMessages, putSaved, startSearch } from './merge-requests.ts';
import { acceptsOf, readsSaves, searchText } from './request-filter.ts';
import { EMPTY_LIST } from './request-list.ts';
import type { ListedRequest, RequestList } from './request-list.ts';
import { sampleRequest as sample } from '../../../../fixtures/sample-request.ts';

const verdict = (query: string, change: Partial<ListedRequest>, method?: string) =>
  acceptsOf({ method, query })({ ...sample(1), ...change });
const GZIP = { rawHeaders: [['Content-Encoding', 'gzip']] } satisfies Partial<CapturedRequest>;
const indexes = (list: RequestList) => list.rows.map((row) => row.index);
const bodies = (...texts: [index: number, body: string, change?: Partial<CapturedRequest>][]) =>
  texts.map(([index, body, change]) => sample(index, { body, ...change }));

test.each([
  ['needle', { body: 'a needle' }, true],
  ['needle', { body: 'hay' }, false],
  // The needle can be in the rest of the body, which the message does not contain.
  ['needle', { body: 'hay', bodyTruncated: true }, undefined],
  ['-needle', { body: 'needle', bodyTruncated: true }, undefined],
  ['needle', { body: 'H4sI', bodyEncoding: 'base64', ...GZIP }, undefined],
  ['path:/', { body: 'hay', bodyTruncated: true, ...GZIP }, true],
  ['method:GET', { body: 'hay', bodyTruncated: true }, false],
  ['header.host:*', { rawHeaders: [], slim: { source: '', event: '' } }, undefined],
] as [string, Partial<ListedRequest>, boolean | undefined][])('%s in %j: %s', (query, change, expected) =>
  expect(verdict(query, change)).toBe(expected),
);

test('the method decides first', () => {
  expect(verdict('needle', { bodyTruncated: true }, 'GET')).toBe(false);
  expect(verdict('needle', { body: 'needle' }, 'POST')).toBe(true);
});

test.each([
  [{ query: 'a OR b' }, 'a OR b'],
  [{ method: 'GET', query: 'a OR b' }, 'method:GET (a OR b)'],
  [{ method: 'GET', query: 'a  "b c"' }, 'method:GET a "b c"'],
])('%j is searched as %s', (filter, text) => expect(searchText(filter)).toBe(text));

const all = (rows: ListedRequest[], change: Partial<RequestList> = {}): RequestList => ({
  ...EMPTY_LIST,
  rows,
  newest: rows[0]?.index ?? -1,
  ...change,
});
const accepts = acceptsOf({ query: 'x' });

test('a search starts with the matches on the page; the rest is a gap', () => {
  const gaps = [{ before: 7, after: -1 }];
  const list = startSearch(all(bodies([9, 'x'], [8, 'y'], [7, 'x']), { gaps }), accepts);
  expect([indexes(list), list.gaps, list.searched, list.newest]).toEqual([[9, 7], gaps, 3, 9]);
});

test('a search of a list that is loaded as a whole is complete', () => {
  expect(startSearch(all(bodies([1, 'y'], [0, 'x'])), accepts)).toMatchObject({ gaps: [], searched: 2 });
});

test('from the first request with an incomplete body, the server searches', () => {
  const list = startSearch(all(bodies([9, 'x'], [8, 'y', { bodyTruncated: true }], [7, 'x'])), accepts);
  expect([indexes(list), list.gaps]).toEqual([[9], [{ before: 9, after: -1 }]]);
  const none = startSearch(all(bodies([9, 'y', { bodyTruncated: true }])), accepts);
  expect([indexes(none), none.gaps]).toEqual([[], [{ before: 10, after: -1 }]]);
});

test('live captures that match are added; those with an incomplete body are left to the server, in one gap', () => {
  const list = addLive(all([], { newest: 0 }), bodies([1, 'x'], [2, 'y']), accepts);
  expect([indexes(list), list.gaps, list.newest]).toEqual([[1], [], 2]);
  const cut = { bodyTruncated: true };
  const more = addLive(addLive(list, bodies([3, 'y', cut]), accepts), bodies([4, 'y', cut], [6, 'y', cut]), accepts);
  expect(more.gaps).toEqual([
    { before: 7, after: 5 },
    { before: 5, after: 2 },
  ]);
});

test('an undecided capture above a gap extends it', () => {
  const list = addLive(
    all([], { newest: 4, gaps: [{ before: 5, after: -1 }] }),
    bodies([5, 'y', { bodyTruncated: true }]),
    accepts,
  );
  expect(list.gaps).toEqual([{ before: 6, after: -1 }]);
});

test('after a reconnect the requests of the init are compared, and older ones are searched again', () => {
  const before = all(bodies([1, 'x'], [0, 'x']));
  const list = applyMessages(before, [{ type: 'init', data: bodies([5, 'x'], [4, 'y'], [3, 'x']) }], 3, accepts);
  expect([indexes(list), list.gaps, list.searched]).toEqual([[5, 3], [{ before: 3, after: -1 }], 3]);
});

test('saving moves a request between the lists of saved and unsaved ones', () => {
  const saved = sample(1, { saved: true });
  expect(indexes(putSaved(all([sample(1)]), saved, acceptsOf({ query: 'is:unsaved' })))).toEqual([]);
  expect(indexes(putSaved(all([], { newest: 1 }), saved, acceptsOf({ query: 'is:saved' })))).toEqual([1]);
});

test.each([
  [undefined, false],
  ['is:failed body:saved', false],
  ['(a OR -is:saved)', true],
  ['is:unsaved', true],
])('whether a save can change what matches %s', (query, reads) => {
  expect(readsSaves({ query })).toBe(reads);
});
