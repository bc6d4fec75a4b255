import { afterEach, expect, test, vi } from 'vitest';
import { sampleRequest } from '../../../../fixtures/sample-request.ts';
import { changeLists, readList } from './list-cache.ts';
import { applyMessages } from './merge-requests.ts';
import { queryClient, queryKeys } from './query-client.ts';
import { ALL_REQUESTS } from './request-filter.ts';
import { EMPTY_LIST, rowOf } from './request-list.ts';
import type { RequestList } from './request-list.ts';
import { slimRow } from './limit-requests.ts';
import { readWholeRequest } from './body-queries.ts';
import { aroundQuery } from './request-queries.ts';

const UID = 'uid';

afterEach(() => {
  queryClient.clear();
  vi.unstubAllGlobals();
});

const samples = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, nth) => sampleRequest(from - nth));

test('an init that arrives after the rows around a linked request leaves them', async () => {
  const list = { ...EMPTY_LIST, rows: samples(699, 670), gaps: [{ before: 670, after: -1 }], newest: 699 };
  queryClient.setQueryData<RequestList>(queryKeys.requestList(UID, ALL_REQUESTS), list);
  vi.stubGlobal('fetch', async (url: string) => Response.json(url.includes('temp-requests') ? samples(256, 57) : []));
  await queryClient.fetchQuery(aroundQuery(UID, ALL_REQUESTS, 157));
  changeLists(UID, (one) => applyMessages(one, [{ type: 'init', data: samples(699, 600) }], 100));
  expect(rowOf(readList(UID), 157)?.index).toBe(157);
  expect(readList(UID).gaps).toEqual([{ before: 600, after: 256 }]);
});

test('a row without headers takes one call, and a second look if it was saved since', async () => {
  const calls: string[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    calls.push(url);
    const isSavedList = !url.includes('temp-requests');
    return Response.json([sampleRequest(isSavedList ? 8 : 7, { saved: isSavedList })]);
  });
  expect(await readWholeRequest(UID, slimRow(sampleRequest(7)))).toMatchObject({ index: 7, saved: false });
  expect(calls).toEqual([expect.stringMatching(/temp-requests.*before=8/)]);
  expect(await readWholeRequest(UID, slimRow(sampleRequest(8)))).toMatchObject({ index: 8, saved: true });
  expect(calls).toHaveLength(4);
});
