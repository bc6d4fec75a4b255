// Marks follow what happens to their requests, loaded or not.
import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../../fixtures/sample-request.ts';
import { slimRow } from '../../../api/limit-requests.ts';
import { marksAfter } from './use-bulk.ts';

const marks = new Map([3, 2, 1].map((index) => [index, slimRow(sampleRequest(index))]));
const saved = [sampleRequest(2, { id: 7, saved: true }), sampleRequest(9, { id: 8, saved: true })];
const all = (): boolean => true;
const NONE: ReadonlySet<number> = new Set();

test('a saved request has its new id, and is deleted by it', () => {
  const after = marksAfter(marks, { saved, deleted: NONE }, all);
  expect([...after.values()].map(({ index, saved: isSaved }) => [index, isSaved])).toEqual([
    [3, false],
    [2, true],
    [1, false],
  ]);
  expect([...marksAfter(after, { saved: [], deleted: new Set([7]) }, all).keys()]).toEqual([3, 1]);
});

test('a saved request that no longer belongs to the list is not marked', () => {
  expect([...marksAfter(marks, { saved, deleted: NONE }, () => false).keys()]).toEqual([3, 1]);
});

test('without a change the marks are the same object', () => {
  expect(marksAfter(marks, { saved: saved.slice(1), deleted: new Set([8]) }, all)).toBe(marks);
});
