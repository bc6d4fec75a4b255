import { expect, test } from 'vitest';
import * as limit from './limit-requests.ts';
import { EMPTY_LIST, isDropped, labelOf } from './request-list.ts';
import type { RequestList } from './request-list.ts';
import { sampleRequest as sample } from '../../../../fixtures/sample-request.ts';

/** Rows with the indexes from `count - 1` down to 0. */
function listOf(count: number, change: Partial<RequestList> = {}): RequestList {
  const rows = Array.from({ length: count }, (_, at) => sample(count - 1 - at));
  return { ...EMPTY_LIST, rows, newest: count - 1, ...change };
}

test('a list within its limits does not change', () => {
  const list = listOf(limit.MAX_LIVE_ROWS);
  expect(limit.limitRows(list)).toBe(list);
});

test('above the limit, the oldest rows become a gap', () => {
  const list = limit.limitRows(listOf(3000));
  expect([list.rows.length, list.rows.at(-1)?.index, list.gaps]).toEqual([2000, 1000, [{ before: 1000, after: -1 }]]);
});

test('held rows stay, and the rows above them are limited', () => {
  const list = limit.limitRows(listOf(3000, { hold: 500 }));
  expect([list.rows.length, list.gaps]).toEqual([1501, [{ before: 2000, after: 500 }]]);
});

test('releasing the list drops rows that an init made outdated', () => {
  const list = limit.holdRows(listOf(10, { hold: 3, staleBelow: 5 }), undefined);
  expect([list.rows.length, list.gaps, list.hold, list.staleBelow]).toEqual([
    5,
    [{ before: 5, after: -1 }],
    undefined,
    undefined,
  ]);
});

test('dropping rows below an index joins the gap there', () => {
  const list = limit.dropRowsBelow({ ...listOf(3), gaps: [{ before: 40, after: 2 }] }, 20);
  expect([list.rows, list.gaps]).toEqual([[], [{ before: 40, after: -1 }]]);
  const above = limit.dropRowsBelow({ ...listOf(3), gaps: [{ before: 40, after: 2 }] }, 2);
  expect(above.gaps).toEqual([
    { before: 40, after: 2 },
    { before: 2, after: -1 },
  ]);
});

/** The list after the server said how many unsaved requests it stores. */
function afterTrim(list: RequestList, count: number, newest = list.newest): RequestList {
  const floor = limit.unsavedFloor(list, { count, newest });
  return floor === undefined ? list : limit.dropUnsavedBelow(list, floor);
}

test.each([
  ['as many as are stored', 10, undefined],
  ['two of ten are gone', 8, 2],
  ['none is stored', 0, 10],
])('trimmed by the server: %s', (_, count, floor) => {
  const list = afterTrim(listOf(10), count);
  expect(list.gaps).toEqual(floor === undefined ? [] : [{ before: floor, after: -1 }]);
  expect(list.rows.length).toBe(count);
});

test('rows that arrived after the count are not dropped', () => {
  expect(afterTrim(listOf(10), 3, 5).rows.map((row) => row.index)).toEqual([9, 8, 7, 6, 5, 4, 3]);
});

test('trimming keeps saved rows', () => {
  const rows = [sample(3), sample(2), sample(1, { saved: true }), sample(0)];
  expect(afterTrim({ ...EMPTY_LIST, rows, newest: 3 }, 2).rows.map((row) => row.index)).toEqual([3, 2, 1]);
});

test('trimming keeps rows with a pending delivery until it ends', () => {
  const pending = { deliveryPending: true };
  const rows = [sample(6), sample(5, pending), sample(4), sample(3), sample(2, pending), sample(1), sample(0, pending)];
  const list = { ...EMPTY_LIST, rows, newest: 6 };
  // Two of the newest rows, and those that wait.
  const trimmed = afterTrim(list, 5);
  expect(trimmed.rows.map((row) => row.index)).toEqual([6, 5, 4, 2, 0]);
  const ended = trimmed.rows.map((row) => (row.index === 2 ? { ...row, deliveryPending: false } : row));
  expect(afterTrim({ ...trimmed, rows: ended }, 4).rows.map((row) => row.index)).toEqual([6, 5, 4, 0]);
});

test('a row whose delivery ends is not taken for dropped while it is among the newest', () => {
  const rows = [sample(3), sample(2), sample(1, { deliveryPending: true }), sample(0)];
  const trimmed = afterTrim({ ...EMPTY_LIST, rows, newest: 3 }, 3);
  const ended = trimmed.rows.map((row) => ({ ...row, deliveryPending: false }));
  expect(trimmed.rows.map((row) => row.index)).toEqual([3, 2, 1]);
  expect(ended.filter((row) => isDropped(trimmed, row))).toEqual([]);
});

test('trimming waits while there is a gap above', () => {
  const gap = listOf(10, { gaps: [{ before: 9, after: 8 }] });
  expect(afterTrim(gap, 5)).toBe(gap);
});

test('held rows stay when they are dropped, are known as dropped, and go when they are released', () => {
  const held = afterTrim(listOf(10, { hold: 9 }), 5);
  expect([held.rows.length, held.droppedBelow]).toEqual([10, 5]);
  expect(held.rows.filter((row) => isDropped(held, row)).map((row) => row.index)).toEqual([4, 3, 2, 1, 0]);
  const released = limit.holdRows(held, undefined);
  expect([released.rows.length, released.gaps]).toEqual([5, [{ before: 5, after: -1 }]]);
});

test('above the memory limit, older rows drop their body and keep their label', () => {
  const github = sample(0, { rawHeaders: [['X-GitHub-Event', 'push']], body: 'x'.repeat(50) });
  const list = limit.slimRows({ ...EMPTY_LIST, rows: [sample(1, { body: 'x'.repeat(50) }), github], newest: 1 }, 100);
  expect(list.rows.map((row) => row.body?.length)).toEqual([50, undefined]);
  expect(list.rows.map((row) => labelOf(row))).toEqual([
    { source: 'Unknown', event: '' },
    { source: 'GitHub', event: 'push' },
  ]);
});

test('remembered deletions are limited', () => {
  const deleted = new Set(Array.from({ length: 6000 }, (_, index) => index));
  expect(limit.limitDeleted({ ...EMPTY_LIST, deleted }).deleted.has(5999)).toBe(true);
  expect(limit.limitDeleted({ ...EMPTY_LIST, deleted }).deleted.size).toBe(2500);
});
