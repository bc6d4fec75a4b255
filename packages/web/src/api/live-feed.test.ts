import type { LiveMessage } from '@creel/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countReceived, gatherFrames } from './live-feed.ts';
import { sampleRequest as sample } from '../../../../fixtures/sample-request.ts';

const live = (index: number): LiveMessage => ({ type: 'request', data: sample(index) });
const init = (...indexes: number[]): LiveMessage => ({ type: 'init', data: indexes.map((index) => sample(index)) });

let frames: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  frames = [];
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => frames.push(run));
  vi.stubGlobal('cancelAnimationFrame', (id: number) => delete frames[id - 1]);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a single message is applied at once, the following ones together in order', () => {
  const applied: number[][] = [];
  const gather = gatherFrames((messages) =>
    applied.push(messages.map((message) => (message.type === 'request' ? message.data.index : -1))),
  );
  for (const index of [1, 2, 3]) gather.add(live(index));
  frames[0]?.();
  gather.add(live(4));
  frames[1]?.();
  vi.advanceTimersByTime(1000);
  gather.add(live(5));
  expect(applied).toEqual([[1], [2, 3], [4], [5]]);
});

test('in a hidden tab without animation frames, a timer applies the messages', () => {
  let applied = 0;
  const gather = gatherFrames((messages) => (applied += messages.length));
  for (const index of [1, 2]) gather.add(live(index));
  expect(applied).toBe(1);
  vi.advanceTimersByTime(250);
  expect(applied).toBe(2);
});

test('a stream is rendered a few times a second', () => {
  const applied: number[] = [];
  const gather = gatherFrames((messages) => applied.push(messages.length));
  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < 100; index++) gather.add(live(index));
    frames.at(-1)?.();
    vi.advanceTimersByTime(149);
  }
  expect(applied).toEqual([1, 99, 200]);
});

test('the queue is limited even without frames and timers', () => {
  const applied: number[] = [];
  const gather = gatherFrames((messages) => applied.push(messages.length));
  for (let index = 0; index < 4101; index++) gather.add(live(index));
  expect(applied).toEqual([1, 2000, 2000]);
});

test('nothing is applied after closing', () => {
  const apply = vi.fn<() => void>();
  const gather = gatherFrames(apply);
  for (const index of [1, 2]) gather.add(live(index));
  gather.stop();
  vi.runAllTimers();
  for (const frame of frames) frame?.();
  expect(apply).toHaveBeenCalledTimes(1);
});

test.each([
  ['each live one', undefined, [init(5), live(6), live(7)], 2],
  ['not what the first init shows', undefined, [init(5, 4)], 0],
  ['each request before a later init', 5, [init(15, 14)], 10],
  ['nothing after an empty init', 5, [init()], 0],
  ['the first of all', undefined, [init(), live(0)], 1],
] as const)('received: %s', (_, newest, messages, received) => {
  expect(countReceived(newest, [...messages]).received).toBe(received);
});
