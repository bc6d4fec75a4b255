import { afterEach, expect, test, vi } from 'vitest';
import { sampleRequest as sample } from '../../../../../../fixtures/sample-request.ts';
import { queryClient, queryKeys } from '../../../api/query-client.ts';
import { ALL_REQUESTS } from '../../../api/request-filter.ts';
import { EMPTY_LIST } from '../../../api/request-list.ts';
import type { RequestList } from '../../../api/request-list.ts';
import { findPartner } from './find-partner.ts';

const UID = 'uid';

afterEach(() => {
  queryClient.clear();
  vi.unstubAllGlobals();
});

const event = (index: number, eventType: string | null) => sample(index, { eventType, path: `/p${index}` });

const showList = (change: Partial<RequestList>) =>
  queryClient.setQueryData<RequestList>(queryKeys.requestList(UID, ALL_REQUESTS), { ...EMPTY_LIST, ...change });

/** Answers the calls by the last part of their paths. Other calls fail. */
const answer = (answers: Readonly<Record<string, unknown>>) =>
  vi.stubGlobal('fetch', async (url: string) => {
    const found = answers[new URL(url, 'http://creel').pathname.split('/').at(-1) ?? ''];
    return found === undefined ? Response.json({ error: 'no' }, { status: 500 }) : Response.json(found);
  });

test.each([
  ['the previous one of its event type', [event(4, 'b'), event(3, 'a'), event(2, 'b'), event(1, 'b')], 4, 2],
  [
    'the first of its event type: the one before it',
    [event(4, 'b'), event(3, 'b'), event(2, 'a'), event(1, 'b')],
    2,
    1,
  ],
  ['the oldest request: the one after it', [event(4, 'b'), event(3, 'b'), event(2, 'b'), event(1, 'a')], 1, 2],
  ['a path that no other has: the one before it', [event(4, null), event(3, null), event(1, null)], 3, 1],
  ['the only request', [event(0, 'a')], 0, undefined],
])('%s, without asking the server', async (_, rows, index, partner) => {
  answer({});
  showList({ rows, newest: 4 });
  const request = rows.find((row) => row.index === index) ?? event(index, null);
  expect((await findPartner(UID, request))?.index).toBe(partner);
});

test('requests that are not loaded count, and those of a filtered or unloaded list', async () => {
  const gaps = [{ before: 9, after: -1 }];
  answer({ search: [], 'temp-requests': [event(3, 'b')], requests: [event(6, 'b')] });
  showList({ rows: [event(9, 'b')], gaps, newest: 9 });
  expect((await findPartner(UID, event(7, 'a')))?.index).toBe(6);
  queryClient.clear();
  expect((await findPartner(UID, event(7, 'a')))?.index).toBe(6);
});

test('the loaded requests are used if the server fails', async () => {
  answer({});
  showList({ rows: [event(9, 'b'), event(7, 'a'), event(2, 'b')], gaps: [{ before: 7, after: 2 }], newest: 9 });
  expect((await findPartner(UID, event(7, 'a')))?.index).toBe(2);
});
