// Deleting many requests: how many calls it takes, what ends it, and what ends the time for Undo.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { readList } from '../../api/list-cache.ts';
import { applyToCache } from '../../api/live-messages.ts';
import { mergeRange } from '../../api/merge-requests.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { EMPTY_LIST } from '../../api/request-list.ts';
import { finishWork } from '../../api/session.ts';
import { toastStore } from '../../ui/toast-store.ts';
import { deleteRequests } from './delete-requests.ts';

const UNDO_MS = 5000;
/** Newest first. They take three calls. */
const REQUESTS = Array.from({ length: 1100 }, (_, nth) => sampleRequest(1099 - nth));
const CALLS = 3;

/** The method and the body of each call. */
const methods: (string | undefined)[] = [];
const bodies: string[] = [];
/** How the server answers each call, by its position; 204 by default. */
let answerOf: (call: number) => Response | undefined;
const ask = async (_: unknown, init?: RequestInit): Promise<Response> => {
  methods.push(init?.method);
  bodies.push(String(init?.body));
  return answerOf(bodies.length - 1) ?? new Response(null, { status: 204 });
};
const problem = (status: number, code: string): Response => Response.json({ error: 'Failed', code }, { status });
/** Node has no page that is left. */
let asksBeforeLeaving = false;
const onRestored = vi.fn<(restored: readonly { readonly index: number }[]) => void>();
const indexesOf = (requests: readonly { readonly index: number }[]): number[] => requests.map(({ index }) => index);
const shown = (): number[] => indexesOf(readList('uid').rows);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', ask);
  vi.stubGlobal('addEventListener', () => (asksBeforeLeaving = true));
  vi.stubGlobal('removeEventListener', () => (asksBeforeLeaving = false));
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  answerOf = () => undefined;
  queryClient.setQueryData(
    queryKeys.requestList('uid', { method: undefined, query: undefined }),
    mergeRange(EMPTY_LIST, { from: 0, to: 1099, rows: REQUESTS }),
  );
});
afterEach(() => {
  queryClient.clear();
  methods.length = 0;
  bodies.length = 0;
  onRestored.mockClear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('many requests take few calls, and until the last one the browser asks before the page is left', async () => {
  const asked: boolean[] = [];
  answerOf = () => void asked.push(asksBeforeLeaving);
  deleteRequests('uid', REQUESTS, onRestored);
  expect(shown()).toEqual([]);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(bodies.flatMap((body) => JSON.parse(body).indexes)).toEqual(indexesOf(REQUESTS));
  expect(bodies).toHaveLength(CALLS);
  expect([...asked, asksBeforeLeaving]).toEqual([true, true, true, false]);
  expect(shown()).toEqual([]);
  expect(onRestored).not.toHaveBeenCalled();
});

test('one request is deleted by its own call, and a request that is gone counts as deleted', async () => {
  answerOf = () => problem(404, 'REQUEST_NOT_FOUND');
  deleteRequests('uid', REQUESTS.slice(0, 1), onRestored);
  await vi.advanceTimersByTimeAsync(0);
  expect(methods[0]).toBe('DELETE');
  expect(shown()).toEqual(indexesOf(REQUESTS.slice(1)));
  expect(onRestored).not.toHaveBeenCalled();
});

test('after a failed call the others go on, and its requests come back', async () => {
  answerOf = (call) => (call === 1 ? problem(500, 'INTERNAL') : undefined);
  deleteRequests('uid', REQUESTS, onRestored);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(bodies).toHaveLength(CALLS);
  expect(shown()).toEqual(indexesOf(REQUESTS.slice(500, 1000)));
  expect(onRestored.mock.calls.map(([restored]) => indexesOf(restored))).toEqual([
    indexesOf(REQUESTS.slice(500, 1000)),
  ]);
  expect(toastStore.read()?.description).toBe('500 of 1,100 requests could not be deleted.');
});

test('without the server it stops, and what was not deleted comes back, except what the live connection reports', async () => {
  answerOf = (call) => (call > 0 ? problem(503, 'UNAVAILABLE') : undefined);
  deleteRequests('uid', REQUESTS, onRestored);
  applyToCache('uid', [{ type: 'deleted', data: { id: REQUESTS[600]?.id ?? 0 } }]);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(bodies).toHaveLength(2);
  expect(shown()).toEqual(indexesOf(REQUESTS.slice(500).toSpliced(100, 1)));
  expect(toastStore.read()?.description).toBe('599 of 1,100 requests could not be deleted.');
});

test('at the end of the session it says how many were not deleted', async () => {
  answerOf = (call) => (call > 0 ? problem(401, 'NOT_SIGNED_IN') : undefined);
  deleteRequests('uid', REQUESTS, onRestored);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(bodies).toHaveLength(2);
  expect(toastStore.read()?.description).toBe('600 of 1,100 requests could not be deleted.');
});

test('an endpoint that was deleted meanwhile ends it', async () => {
  answerOf = () => problem(404, 'ENDPOINT_NOT_FOUND');
  deleteRequests('uid', REQUESTS, onRestored);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(bodies).toHaveLength(1);
  expect(onRestored).not.toHaveBeenCalled();
});

test('a new list shows none of the requests that can come back, however many', async () => {
  const many = Array.from({ length: 6000 }, (_, nth) => sampleRequest(5999 - nth));
  deleteRequests('uid', many, onRestored);
  applyToCache('uid', [{ type: 'request', data: sampleRequest(6000) }]);
  applyToCache('uid', [{ type: 'init', data: [sampleRequest(6000), ...many.slice(0, 99)] }]);
  expect(shown()).toEqual([6000]);
  toastStore.read()?.action?.run();
  expect(shown().slice(0, 2)).toEqual([6000, 5999]);
});

test('a logout waits for the deletion, once, and not for one that was undone', async () => {
  deleteRequests('uid', REQUESTS, onRestored);
  await Promise.all([finishWork(), finishWork()]);
  expect(bodies).toHaveLength(CALLS);
  expect(toastStore.read()?.open).toBe(false);
  await finishWork();
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(bodies).toHaveLength(CALLS);

  deleteRequests('uid', REQUESTS, onRestored);
  toastStore.read()?.action?.run();
  await finishWork();
  expect(bodies).toHaveLength(CALLS);
});
