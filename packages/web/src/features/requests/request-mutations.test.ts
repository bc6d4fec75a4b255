// Saving many requests: how many calls it takes, what ends it, and what it reports.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { readList } from '../../api/list-cache.ts';
import { slimRow } from '../../api/limit-requests.ts';
import { mergeRange } from '../../api/merge-requests.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { EMPTY_LIST } from '../../api/request-list.ts';
import { saveRequests } from './request-mutations.ts';

/** Newest first. They take three calls. */
const REQUESTS = Array.from({ length: 1100 }, (_, nth) => sampleRequest(1099 - nth));
const SAVED_ID = 5000;

/** The last part of the path of each call, and its body. */
const calls: { readonly name: string; readonly body: { readonly index?: number; readonly indexes?: number[] } }[] = [];
/** The indexes that the server saves. */
let canSave: (index: number) => boolean;
/** How the server answers a call for one request that it does not save. */
let refusal: () => Response;
const problem = (status: number, code: string): Response => Response.json({ error: 'Refused', code }, { status });
const ask = async (url: unknown, init?: RequestInit): Promise<Response> => {
  const body = JSON.parse(String(init?.body));
  calls.push({ name: String(url).split('/').at(-1) ?? '', body });
  if (body.indexes === undefined)
    return canSave(body.index)
      ? Response.json(sampleRequest(body.index, { id: SAVED_ID + body.index, saved: true }))
      : refusal();
  return Response.json(body.indexes.filter(canSave).map((index: number) => ({ index, id: SAVED_ID + index })));
};
const namesOf = (): string[] => calls.map(({ name }) => name);
const save = (onProgress = vi.fn<(done: number) => void>(), controller = new AbortController()) =>
  saveRequests('uid', REQUESTS, { onProgress, signal: controller.signal });

beforeEach(() => {
  vi.stubGlobal('fetch', ask);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  canSave = () => true;
  refusal = () => problem(404, 'REQUEST_NOT_FOUND');
  queryClient.setQueryData(
    queryKeys.requestList('uid', { method: undefined, query: undefined }),
    mergeRange(EMPTY_LIST, { from: 0, to: 1099, rows: REQUESTS }),
  );
});
afterEach(() => {
  queryClient.clear();
  calls.length = 0;
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('many requests take few calls, and the list has their new ids', async () => {
  const onProgress = vi.fn<(done: number) => void>();
  const { saved, failed } = await save(onProgress);
  expect([saved.size, failed]).toEqual([1100, []]);
  expect(namesOf()).toEqual(['save-requests', 'save-requests', 'save-requests']);
  expect(onProgress.mock.calls.flat()).toEqual([500, 1000, 1100]);
  expect(readList('uid').rows.every((row) => row.saved && row.id === SAVED_ID + row.index)).toBe(true);
});

test('one request is saved by its own call', async () => {
  const options = { onProgress: () => undefined, signal: new AbortController().signal };
  const { saved } = await saveRequests('uid', REQUESTS.slice(0, 1), options);
  expect([...saved]).toEqual([1099]);
  expect(namesOf()).toEqual(['save-request']);
});

test('a dropped request is restored from the page', async () => {
  canSave = (index) => index !== 700;
  refusal = () =>
    calls.at(-1)?.name === 'restore-request'
      ? Response.json(sampleRequest(700, { id: 1, saved: true }))
      : problem(404, 'REQUEST_NOT_FOUND');
  const { saved, failed } = await save();
  expect([saved.size, failed]).toEqual([1100, []]);
  expect(namesOf()).toEqual(['save-requests', 'save-request', 'restore-request', 'save-requests', 'save-requests']);
});

test('dropped requests that the page does not have whole take one call', async () => {
  canSave = (index) => index >= 700;
  const requests = REQUESTS.slice(0, 500).map(slimRow);
  const options = { onProgress: () => undefined, signal: new AbortController().signal };
  const { saved, failed } = await saveRequests('uid', requests, options);
  expect([saved.size, failed.length]).toEqual([400, 100]);
  expect(namesOf()).toEqual(['save-requests', 'save-request']);
});

test('at the maximum it ends, and returns what was saved', async () => {
  canSave = (index) => index >= 400;
  refusal = () => problem(403, 'SAVED_LIMIT');
  const { saved, failed } = await save();
  expect(saved.size).toBe(700);
  expect(failed[0]?.error).toMatchObject({ code: 'SAVED_LIMIT' });
  expect(calls.filter(({ name }) => name === 'save-requests')).toHaveLength(2);
  expect(readList('uid').rows.filter((row) => row.saved)).toHaveLength(700);
});

test('after a failed call the others go on, and all of its requests failed', async () => {
  let count = 0;
  vi.stubGlobal('fetch', (url: unknown, init?: RequestInit) =>
    ++count === 2 ? Promise.resolve(problem(500, 'INTERNAL')) : ask(url, init),
  );
  const { saved, failed } = await save();
  expect([saved.size, failed.length]).toEqual([600, 500]);
});

test('a stop starts no further call', async () => {
  const controller = new AbortController();
  const { saved, failed } = await save(
    vi.fn<(done: number) => void>(() => controller.abort()),
    controller,
  );
  expect([saved.size, failed]).toEqual([500, []]);
  expect(calls).toHaveLength(1);
});
