// Deleting many requests: which answers end it, and what ends the time for Undo.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { queryClient } from '../../api/query-client.ts';
import { finishWork } from '../../api/session.ts';
import { toastStore } from '../../ui/toast-store.ts';
import { deleteRequests } from './request-mutations.ts';

const UNDO_MS = 5000;
const REQUESTS = Array.from({ length: 50 }, (_, index) => sampleRequest(index));

let code: string;
const asked = vi.fn<() => Promise<Response>>(async () => Response.json({ error: 'Gone', code }, { status: 404 }));
const onRestored = vi.fn<() => void>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', asked);
  // Node has no page that is left.
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => {
  queryClient.clear();
  asked.mockClear();
  onRestored.mockClear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('what is deleted already counts as deleted', async () => {
  code = 'REQUEST_NOT_FOUND';
  deleteRequests('uid', REQUESTS, onRestored);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(asked.mock.calls.length).toBeGreaterThanOrEqual(REQUESTS.length);
  expect(onRestored).not.toHaveBeenCalled();
});

test('an endpoint that was deleted meanwhile ends it', async () => {
  code = 'ENDPOINT_NOT_FOUND';
  deleteRequests('uid', REQUESTS, onRestored);
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(asked.mock.calls.length).toBeLessThan(REQUESTS.length);
  expect(onRestored).not.toHaveBeenCalled();
});

test('a logout waits for the deletion, once, and not for one that was undone', async () => {
  code = 'REQUEST_NOT_FOUND';
  deleteRequests('uid', REQUESTS, onRestored);
  await finishWork();
  const calls = asked.mock.calls.length;
  expect(calls).toBeGreaterThanOrEqual(REQUESTS.length);
  expect(toastStore.read()?.open).toBe(false);
  await finishWork();
  await vi.advanceTimersByTimeAsync(UNDO_MS);
  expect(asked.mock.calls.length).toBe(calls);

  deleteRequests('uid', REQUESTS, onRestored);
  toastStore.read()?.action?.run();
  await finishWork();
  expect(asked.mock.calls.length).toBe(calls);
});
