import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EndpointTicker } from './endpoint-ticker.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A ticker that records its notifications; `takes` is their duration. */
function newTicker(takes = 0) {
  const began = Date.now();
  const told: [at: number, endpointId: number][] = [];
  let atOnce = 0;
  let most = 0;
  const notify = async (endpointId: number) => {
    most = Math.max(most, (atOnce += 1));
    told.push([Date.now() - began, endpointId]);
    if (takes > 0) await new Promise((resolve) => setTimeout(resolve, takes));
    atOnce -= 1;
  };
  const ticker = new EndpointTicker(notify, (error) => expect.unreachable(String(error)));
  return { ticker, told, most: () => most };
}

test('a change is reported at once', () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  expect(told).toEqual([[0, 7]]);
});

test('a burst is reported at once and once more after its last change', async () => {
  const { ticker, told } = newTicker();
  for (let count = 0; count < 500; count += 1) ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([
    [0, 7],
    [1000, 7],
  ]);
});

test('endless changes are reported once a second', async () => {
  const { ticker, told } = newTicker();
  for (let at = 0; at < 3500; at += 10) {
    ticker.touch(7);
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(5000);
  expect(told.map(([at]) => at)).toEqual([0, 1000, 2000, 3000, 4000]);
});

test('one change is reported once', async () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toHaveLength(1);
});

test('a change after a quiet second is reported at once', async () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(1500);
  ticker.touch(7);
  expect(told.map(([at]) => at)).toEqual([0, 1500]);
});

test('endpoints do not wait for each other', () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  ticker.touch(8);
  expect(told).toEqual([
    [0, 7],
    [0, 8],
  ]);
});

test('a change during a notification is reported a second after it, never in parallel', async () => {
  const { ticker, told, most } = newTicker(700);
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(100);
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told.map(([at]) => at)).toEqual([0, 1700]);
  expect(most()).toBe(1);
});

test('nothing is reported after the stop', async () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  ticker.touch(7);
  ticker.stop();
  ticker.touch(8);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([[0, 7]]);
});

test('a failed notification is repeated until it succeeds, and failures in a row are reported once', async () => {
  const told: number[] = [];
  const failures: unknown[] = [];
  const began = Date.now();
  const notify = async (): Promise<void> => {
    told.push(Date.now() - began);
    if (told.length <= 3) throw new Error('The database does not answer.');
  };
  const ticker = new EndpointTicker(notify, (error) => failures.push(error));
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([0, 1000, 2000, 3000]);
  expect(failures).toHaveLength(1);
});
