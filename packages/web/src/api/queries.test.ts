// Cache times and retries of the queries.

import { QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endpointQuery, endpointsQuery, onceLoaded, settingsQuery } from './queries.ts';
import { queryClient } from './query-client.ts';
import { serverState } from './server-state.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const SETTINGS = { autoSaveNewEndpoints: false, emailNotifyExpiry: false, emailNotifySubscription: false, email: '' };

let answer: () => Response;
const asked = vi.fn<() => Promise<Response>>(async () => answer());

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', asked);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => {
  queryClient.clear();
  asked.mockClear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Subscribes to a query for some milliseconds, as a screen does. */
async function look(observer: { subscribe: (listener: () => void) => () => void }, ms: number): Promise<void> {
  const leave = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(ms);
  leave();
}

test('the list of endpoints is stale after 30 s, and kept for 5 minutes', async () => {
  answer = () => Response.json([]);
  await look(new QueryObserver(queryClient, endpointsQuery), SECOND_MS);
  expect(asked).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(28 * SECOND_MS);
  await look(new QueryObserver(queryClient, endpointsQuery), 0);
  expect(asked).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2 * SECOND_MS);
  await look(new QueryObserver(queryClient, endpointsQuery), SECOND_MS);
  expect(asked).toHaveBeenCalledTimes(2);

  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS - SECOND_MS);
  expect(queryClient.getQueryData(endpointsQuery.queryKey)).toEqual([]);
  await vi.advanceTimersByTimeAsync(2 * SECOND_MS);
  expect(queryClient.getQueryData(endpointsQuery.queryKey)).toBeUndefined();
});

test('an interval starts when the data is loaded', () => {
  expect(onceLoaded(SECOND_MS)({ state: { data: undefined } })).toBe(false);
  expect(onceLoaded(SECOND_MS)({ state: { data: [] } })).toBe(SECOND_MS);
});

test('what failed to load in an outage marks the server as unavailable until it answers', async () => {
  const states = async (status: number): Promise<string> => {
    queryClient.clear();
    answer = () => Response.json({ error: 'no', message: 'no', code: 'UNAVAILABLE' }, { status });
    await look(new QueryObserver(queryClient, settingsQuery), SECOND_MS);
    return serverState.read();
  };
  expect(await states(503)).toBe('unavailable');
  expect(await states(404)).toBe('up');
  // The destination of a replay, for example, and not this server.
  expect(await states(502)).toBe('up');
  expect(await states(429)).toBe('unavailable');
  expect(await states(404)).toBe('up');
});

test('a single endpoint is not cached, and retried 3 times, 1 s apart', async () => {
  answer = () => Response.json({ error: 'no', message: 'no', code: 'INTERNAL' }, { status: 503 });
  const query = endpointQuery('one');
  const leave = new QueryObserver(queryClient, query).subscribe(() => undefined);
  for (const times of [1, 2, 3, 4]) {
    await vi.advanceTimersByTimeAsync(times === 1 ? 0 : SECOND_MS - 1);
    expect(asked).toHaveBeenCalledTimes(Math.max(1, times - 1));
    await vi.advanceTimersByTimeAsync(times === 1 ? 0 : 1);
    expect(asked).toHaveBeenCalledTimes(times);
  }
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(asked).toHaveBeenCalledTimes(4);
  leave();
  await vi.advanceTimersByTimeAsync(1);
  expect(queryClient.getQueryState(query.queryKey)).toBeUndefined();
});

test('a 4xx response is not retried', async () => {
  answer = () => Response.json({ error: 'no', message: 'no', code: 'NOT_FOUND' }, { status: 404 });
  await look(new QueryObserver(queryClient, endpointQuery('gone')), MINUTE_MS);
  expect(asked).toHaveBeenCalledTimes(1);
});

test('other queries never go stale', async () => {
  answer = () => Response.json(SETTINGS);
  const leave = new QueryObserver(queryClient, settingsQuery).subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(24 * 60 * MINUTE_MS);
  await look(new QueryObserver(queryClient, settingsQuery), MINUTE_MS);
  expect(asked).toHaveBeenCalledTimes(1);
  leave();
});

test('other queries are not retried', async () => {
  answer = () => Response.json({ error: 'no', message: 'no', code: 'INTERNAL' }, { status: 503 });
  await look(new QueryObserver(queryClient, settingsQuery), 60 * MINUTE_MS);
  expect(asked).toHaveBeenCalledTimes(1);
});
