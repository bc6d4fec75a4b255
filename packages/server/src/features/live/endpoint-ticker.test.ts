import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EndpointTicker } from './endpoint-ticker.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A ticker that notes when it told whom; `takes` is how long telling takes. */
function newTicker(takes = 0) {
  const began = Date.now();
  const told: [at: number, endpointId: number][] = [];
  let atOnce = 0;
  let most = 0;
  const ticker = new EndpointTicker(async (endpointId) => {
    most = Math.max(most, (atOnce += 1));
    told.push([Date.now() - began, endpointId]);
    if (takes > 0) await new Promise((resolve) => setTimeout(resolve, takes));
    atOnce -= 1;
  });
  return { ticker, told, most: () => most };
}

test('a change is told at once', () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  expect(told).toEqual([[0, 7]]);
});

test('a burst is told at once and once more after its last change', async () => {
  const { ticker, told } = newTicker();
  for (let count = 0; count < 500; count += 1) ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([
    [0, 7],
    [1000, 7],
  ]);
});

test('changes without end are told once a second', async () => {
  const { ticker, told } = newTicker();
  for (let at = 0; at < 3500; at += 10) {
    ticker.touch(7);
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(5000);
  expect(told.map(([at]) => at)).toEqual([0, 1000, 2000, 3000, 4000]);
});

test('one change is told once', async () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toHaveLength(1);
});

test('a change after a quiet second is told at once again', async () => {
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

test('a change while it is being told is told again a second after that, never at the same time', async () => {
  const { ticker, told, most } = newTicker(700);
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(100);
  ticker.touch(7);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told.map(([at]) => at)).toEqual([0, 1700]);
  expect(most()).toBe(1);
});

test('nothing is told after the stop', async () => {
  const { ticker, told } = newTicker();
  ticker.touch(7);
  ticker.touch(7);
  ticker.stop();
  ticker.touch(8);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([[0, 7]]);
});
