import type { LiveMessage } from '@creel/contract';
import { expect, test } from 'vitest';
import * as merge from './merge-requests.ts';
import { acceptsOf } from './request-filter.ts';
import { EMPTY_LIST, isHidden, rowOf } from './request-list.ts';
import type { RequestList } from './request-list.ts';
import { sampleRequest as sample } from '../../../../fixtures/sample-request.ts';

const INIT_SIZE = 3;
const samples = (...indexes: number[]) => indexes.map((index) => sample(index));
const indexes = (list: RequestList) => list.rows.map((row) => row.index);
const apply = (list: RequestList, ...messages: LiveMessage[]) => merge.applyMessages(list, messages, INIT_SIZE);
const init = (...at: number[]): LiveMessage => ({ type: 'init', data: samples(...at) });
const live = (index: number): LiveMessage => ({ type: 'request', data: sample(index) });
const saved = (index: number): LiveMessage => ({
  type: 'saved',
  data: { oldId: sample(index).id, request: sample(index, { saved: true }) },
});

test.each([
  ['newest first', [samples(1, 3), samples(2)], [3, 2, 1]],
  ['each index once', [samples(2, 1), samples(2)], [2, 1]],
  ['hidden rows left out', [[sample(1, { method: 'unknown' }), sample(2)]], [2]],
])('merge: %s', (_, lists, expected) => {
  expect(indexes(merge.addLive(EMPTY_LIST, lists.flat(), () => true))).toEqual(expected);
});

test.each([
  ['no method', { method: '' }, true],
  ['unknown method', { method: 'UNKNOWN' }, true],
  ['nothing in it', { path: '', rawHeaders: [], body: null, size: 0 }, true],
  ['a path', { rawHeaders: [], body: null, size: 0 }, false],
  ['a size', { path: '', rawHeaders: [], body: null, size: 1 }, false],
  ['headers', { path: '' }, false],
])('hidden: %s', (_, change, expected) => expect(isHidden(sample(0, change))).toBe(expected));

test('a saved row wins over an unsaved one in any order', () => {
  const one = sample(1, { saved: true });
  expect(merge.newestFirst([one, ...samples(1)])).toEqual([one]);
  expect(merge.newestFirst([...samples(1), one])).toEqual([one]);
});

test('an init shows the newest requests and leaves a gap for older ones', () => {
  const list = apply(EMPTY_LIST, init(9, 8, 7));
  expect([indexes(list), list.gaps, list.newest]).toEqual([[9, 8, 7], [{ before: 7, after: -1 }], 9]);
});

test('an init below its maximum size leaves no gap', () => {
  const list = apply(EMPTY_LIST, init(9, 7));
  expect([indexes(list), list.gaps]).toEqual([[9, 7], []]);
});

test('new captures are added at the front', () => {
  expect(indexes(apply(EMPTY_LIST, init(1, 0), live(2), live(3)))).toEqual([3, 2, 1, 0]);
});

test('a late capture is inserted at its place, a repeated one is ignored', () => {
  expect(indexes(apply(EMPTY_LIST, live(5), live(3), live(4), live(3)))).toEqual([5, 4, 3]);
});

test('a new init replaces the list: missing rows are removed, older ones become a gap', () => {
  const list = apply(EMPTY_LIST, init(2, 1, 0), live(3), live(4), init(9, 8, 4));
  expect([indexes(list), list.gaps]).toEqual([[9, 8, 4], [{ before: 4, after: -1 }]]);
  // The newest one was deleted while the connection was lost.
  expect(indexes(apply(list, init(8, 4)))).toEqual([8, 4]);
});

test('held rows survive an init, with a gap between', () => {
  const list = apply({ ...apply(EMPTY_LIST, init(2, 1)), hold: 2 }, init(9, 8, 7));
  expect([indexes(list), list.gaps, list.staleBelow]).toEqual([[9, 8, 7, 2, 1], [{ before: 7, after: 2 }], 7]);
});

test('an empty init empties the list', () => expect(indexes(apply(EMPTY_LIST, live(1), init()))).toEqual([]));

test('a saved request replaces the unsaved one', () => {
  const list = apply(EMPTY_LIST, init(2, 1), saved(1));
  expect(list.rows.map((row) => row.id)).toEqual([sample(2).id, 2]);
});

test('a saved request in a gap appears with its page', () => {
  expect(indexes(apply(EMPTY_LIST, init(9, 8, 7), saved(3)))).toEqual([9, 8, 7]);
});

test('requests are deleted by saved and unsaved id', () => {
  const list = apply(EMPTY_LIST, init(2, 1), saved(1), { type: 'deleted', data: { id: 2 } });
  expect(indexes(apply(list, { type: 'deleted', data: { id: sample(2).id } }))).toEqual([]);
});

test('a page read before a deletion does not restore the row', () => {
  const list = apply(EMPTY_LIST, init(2, 1), { type: 'deleted', data: { id: sample(1).id } });
  expect(indexes(merge.mergeRange(list, { from: 0, to: 2, rows: samples(2, 1, 0) }))).toEqual([2, 0]);
});

test('a page read before a save does not undo the save', () => {
  const list = merge.mergeRange(apply(EMPTY_LIST, init(2, 1), saved(1)), { from: 0, to: 2, rows: samples(2, 1) });
  expect(rowOf(list, 1)?.saved).toBe(true);
});

test('a request saved between the two reads of a page stays', () => {
  const list = merge.mergeRange(apply(EMPTY_LIST, init(2, 1), saved(1)), { from: 0, to: 2, rows: samples(2) });
  expect(indexes(list)).toEqual([2, 1]);
});

test('a clear empties the list, and a page that is still loading restores nothing', () => {
  const list = apply(EMPTY_LIST, init(2, 1), { type: 'clear', data: {} }, live(3));
  expect(indexes(merge.mergeRange(list, { from: 0, to: 2, rows: samples(2, 1) }))).toEqual([3]);
});

test('the unsaved id of a request that was saved in the meantime deletes nothing', () => {
  const list = apply(EMPTY_LIST, init(1), saved(1), { type: 'deleted', data: { id: sample(1).id } });
  expect(indexes(list)).toEqual([1]);
});

test('a save keeps the known delivery, unless the request was dropped with its history and stored again', () => {
  const lastDelivery = { kind: 'forward', status: 200, error: null, at: '2026-01-01T00:00:00.000Z' } as const;
  const list = { ...apply(EMPTY_LIST, init(2, 1)), droppedBelow: 2 };
  const delivered = { ...list, rows: list.rows.map((row) => ({ ...row, lastDelivery })) };
  const both = apply(delivered, saved(2), saved(1));
  expect([2, 1].map((index) => rowOf(both, index)?.lastDelivery)).toEqual([lastDelivery, null]);
});

test('a failed deletion restores the row', () => {
  const list = apply(EMPTY_LIST, init(2, 1), { type: 'deleted', data: { id: sample(1).id } });
  expect(indexes(merge.restoreRequests(list, [sample(1)]))).toEqual([2, 1]);
});

test('an undone deletion restores its rows, except dropped ones and those of another method', () => {
  const list = apply(EMPTY_LIST, init(5, 4, 3, 2, 1));
  const gone = merge.dropRequests(list, samples(5, 4, 1));
  expect(indexes(gone)).toEqual([3, 2]);
  expect(indexes(merge.mergeRange(gone, { from: 0, to: 5, rows: samples(5, 4) }))).toEqual([3, 2]);
  const back = merge.restoreRequests({ ...gone, droppedBelow: 2 }, samples(5, 4, 1));
  expect(indexes(back)).toEqual([5, 4, 3, 2]);
  expect(indexes(merge.restoreRequests(gone, samples(5), () => false))).toEqual([3, 2]);
});

test('deleted requests that were not loaded leave no gap, and come back with the others', () => {
  const list = apply(EMPTY_LIST, init(9, 8, 7));
  const gone = merge.dropRequests(list, samples(9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  expect([indexes(gone), gone.gaps]).toEqual([[], []]);
  expect(indexes(merge.restoreRequests(gone, samples(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)))).toEqual([
    9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
  ]);
  const some = merge.dropRequests(list, samples(7, 6, 5, 2, 1));
  expect(some.gaps).toEqual([{ before: 5, after: -1 }]);
  expect(merge.mergeRange(some, { from: 3, to: 4, rows: samples(4) }).gaps).toEqual([{ before: 1, after: -1 }]);
});

test('restored rows that only the server can decide on are searched together, where no row is between them', () => {
  const list = { ...apply(EMPTY_LIST, init(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)), searched: 10 };
  const undecided = () => undefined;
  const all = merge.restoreRequests(merge.dropRequests(list, list.rows), samples(2, 4, 6, 8), undecided);
  expect([indexes(all), all.gaps, all.searched]).toEqual([[], [{ before: 9, after: 1 }], 3]);
  const some = merge.restoreRequests(merge.dropRequests(list, samples(8, 7, 6, 3, 2)), samples(8, 6, 3), undecided);
  const gaps = [
    { before: 9, after: 5 },
    { before: 4, after: 2 },
  ];
  expect([some.gaps, some.searched]).toEqual([gaps, 6]);
});

test('a page fills its part of a gap', () => {
  const list = apply(EMPTY_LIST, init(9, 8, 7));
  const page = merge.pageRange(samples(6, 5), true, 7);
  expect(merge.mergeRange(list, page).gaps).toEqual([{ before: 5, after: -1 }]);
  expect(merge.mergeRange(list, merge.pageRange(samples(6, 2), false, 7)).gaps).toEqual([]);
});

test('two joined pages are complete down to the higher end', () => {
  const both = merge.joinPages(merge.pageRange(samples(9, 8), true, 10), merge.pageRange(samples(7, 1), true, 10));
  expect([both.from, both.to, both.rows.map((row) => row.index)]).toEqual([8, 9, [9, 8]]);
  const ended = merge.joinPages(merge.pageRange(samples(9, 8), true, 10), merge.pageRange([], false, 10));
  expect([ended.from, ended.rows.map((row) => row.index)]).toEqual([8, [9, 8]]);
});

test('a first page below a newer init leaves a gap between them', () => {
  const list = merge.mergeRange(apply(EMPTY_LIST, init(9, 8, 7)), merge.pageRange(samples(3, 2), false, undefined));
  expect([indexes(list), list.gaps]).toEqual([[9, 8, 7, 3, 2], [{ before: 7, after: 3 }]]);
});

test('a list of one method adds only its own requests but tracks the newest index', () => {
  const messages: LiveMessage[] = [live(1), { type: 'request', data: sample(2, { method: 'GET' }) }, live(3)];
  const list = merge.applyMessages(EMPTY_LIST, messages, INIT_SIZE, acceptsOf({ method: 'GET' }));
  expect([indexes(list), list.newest]).toEqual([[2], 3]);
});

/** The message of an attempt, or, without a status, of a planned one. */
const delivery = (index: number, status: number | null, deliveryPending = false): LiveMessage => ({
  type: 'delivery',
  data: {
    index,
    lastDelivery: status === null ? null : { kind: 'forward', status, error: null, at: '2026-11-22T10:00:01.000Z' },
    deliveryPending,
    delivery: {
      id: 1,
      deliveryId: 'd',
      kind: 'forward',
      destinationId: 1,
      url: 'https://a.test/',
      method: 'POST',
      attempt: status === null ? 0 : 1,
      status,
      statusText: '',
      error: null,
      durationMs: 1,
      at: '2026-11-22T10:00:01.000Z',
      nextAttemptAt: deliveryPending ? '2026-11-22T10:00:06.000Z' : null,
    },
  },
});

test('a delivery message sets the state of its request only', () => {
  const list = apply(EMPTY_LIST, init(2, 1), delivery(1, 500, true));
  expect(rowOf(list, 1)).toMatchObject({ lastDelivery: { status: 500 }, deliveryPending: true });
  expect(rowOf(list, 2)).toMatchObject({ lastDelivery: null, deliveryPending: false });
  expect(rowOf(apply(list, delivery(1, 200)), 1)).toMatchObject({
    lastDelivery: { status: 200 },
    deliveryPending: false,
  });
  expect(apply(list, delivery(9, 200))).toBe(list);
});

test('a request that waits for its first attempt says so, also after it was saved', () => {
  const waits = delivery(1, null, true);
  const list = apply(EMPTY_LIST, init(1), waits);
  expect(rowOf(list, 1)).toMatchObject({ lastDelivery: null, deliveryPending: true });
  expect(rowOf(apply(list, saved(1)), 1)).toMatchObject({ lastDelivery: null, deliveryPending: true });
});

test('a page that was read before a delivery does not undo it, and a later init has the newer one', () => {
  const at = (second: number, status: number) =>
    sample(1, {
      lastDelivery: { kind: 'forward', status, error: null, at: `2026-11-22T10:00:0${second}.000Z` },
    });
  const list = apply(EMPTY_LIST, init(1), delivery(1, 200));
  const page = merge.mergeRange(list, { from: 0, to: 1, rows: [at(0, 500)] });
  expect(rowOf(page, 1)?.lastDelivery).toMatchObject({ status: 200 });
  expect(rowOf(apply(list, saved(1)), 1)?.lastDelivery).toMatchObject({ status: 200 });
  const later = apply(list, { type: 'init', data: [at(5, 404)] });
  expect(rowOf(later, 1)?.lastDelivery).toMatchObject({ status: 404 });
  // Read after the end of another delivery of the request, which began earlier.
  const pending = apply(EMPTY_LIST, init(1), delivery(1, 200, true));
  const ended = merge.mergeRange(pending, { from: 0, to: 1, rows: [at(1, 200)] });
  expect(rowOf(ended, 1)?.deliveryPending).toBe(false);
});

test('a delivery can remove a row from the list of a query', () => {
  const accepts = acceptsOf({ query: 'is:pending' });
  const list = apply(EMPTY_LIST, init(1), delivery(1, 500, true));
  expect(accepts(list.rows[0] ?? sample(0))).toBe(true);
  expect(merge.applyMessages(list, [delivery(1, 200)], INIT_SIZE, accepts).rows).toEqual([]);
});
