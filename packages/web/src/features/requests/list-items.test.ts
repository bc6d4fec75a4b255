import { expect, test } from 'vitest';
import { EMPTY_LIST } from '../../api/request-list.ts';
import type { RequestList } from '../../api/request-list.ts';
import { sampleRequest as sample } from '../../../../../fixtures/sample-request.ts';
import { between, listItems, neighbor, waitingOf } from './list-items.ts';
import type { ListItems } from './list-items.ts';

const rows = (...indexes: number[]) => indexes.map((index) => sample(index, { path: `/p${index}` }));
const list = (change: Partial<RequestList>): RequestList => ({ ...EMPTY_LIST, ...change });

function show(items: ListItems): (number | string)[] {
  return Array.from({ length: items.count }, (_, at) => {
    const item = items.at(at);
    if (item === undefined) return 'nothing';
    return item.kind === 'gap' ? `below ${item.gap.before}` : item.request.index;
  });
}

test.each([
  ['rows alone', list({ rows: rows(2, 1) }), [2, 1]],
  ['a gap at the end', list({ rows: rows(9, 8), gaps: [{ before: 8, after: -1 }] }), [9, 8, 'below 8']],
  [
    'gaps between and at the end',
    list({
      rows: rows(9, 5, 4),
      gaps: [
        { before: 9, after: 5 },
        { before: 4, after: -1 },
      ],
    }),
    [9, 'below 9', 5, 4, 'below 4'],
  ],
  [
    'held: what is newer waits',
    list({ rows: rows(9, 8, 5), hold: 7, gaps: [{ before: 5, after: -1 }] }),
    [5, 'below 5'],
  ],
  ['held: a gap above it waits too', list({ rows: rows(9, 5), hold: 6, gaps: [{ before: 9, after: 6 }] }), [5]],
] as [string, RequestList, (number | string)[]][])('%s', (_, given, lines) => {
  expect(show(listItems(given))).toEqual(lines);
});

test('the position of a request counts the gaps above it', () => {
  const items = listItems(list({ rows: rows(9, 5, 4), gaps: [{ before: 9, after: 5 }] }));
  expect([9, 5, 4, 7].map((index) => items.positionOfIndex(index))).toEqual([0, 2, 3, -1]);
});

test.each([
  ['nothing held', list({ rows: rows(9, 8) }), { count: 0, more: false }],
  ['two wait', list({ rows: rows(9, 8, 5), hold: 7 }), { count: 2, more: false }],
  [
    'two, and others between',
    list({ rows: rows(9, 8, 5), hold: 5, gaps: [{ before: 8, after: 5 }] }),
    { count: 2, more: true },
  ],
])('waiting: %s', (_, given, waiting) => expect(waitingOf(given)).toEqual(waiting));

test.each([
  ['down', 9, 1, 5],
  ['up', 5, -1, 9],
  ['past the end', 5, 1, undefined],
  ['from nowhere', undefined, 1, 9],
  ['from one that is gone', 7, 1, 9],
] as const)('neighbor %s', (_, from, step, index) => {
  expect(neighbor(listItems(list({ rows: rows(9, 5) })), from, step)?.index).toBe(index);
});

test('the neighbor does not skip a gap', () => {
  const items = listItems(list({ rows: rows(9, 5, 4), gaps: [{ before: 9, after: 5 }] }));
  expect([neighbor(items, 9, 1), neighbor(items, 5, -1), neighbor(items, 5, 1)?.index]).toEqual([
    undefined,
    undefined,
    4,
  ]);
});

test.each([
  ['down', 9, 5, [9, 8, 5]],
  ['up', 4, 8, [8, 5, 4]],
  ['from a deleted request up', 7, 9, [9, 8]],
  ['from a deleted request down', 10, 8, [9, 8]],
] as const)('a range: %s', (_, from, to, indexes) => {
  const items = listItems(list({ rows: rows(9, 8, 5, 4) }));
  expect(between(items, from, to).map(({ index }) => index)).toEqual(indexes);
});

test.each([
  ['within loaded rows', 9, 8, false],
  ['up across a gap', 4, 8, true],
  ['down across a gap', 8, 4, true],
  ['to the rows at a gap', 5, 4, false],
])('a range %s is loaded or not', (_, from, to, has) => {
  const gaps = [
    { before: 8, after: 5 },
    { before: 4, after: -1 },
  ];
  expect(listItems(list({ rows: rows(9, 8, 5, 4), gaps })).hasGap(from, to)).toBe(has);
});
