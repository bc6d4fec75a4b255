import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newLiveMemory } from './live-connection.ts';
import type { LiveMemory } from './live-connection.ts';
import { newViewer, record, stored, wait } from '../../../test/fake-viewer.ts';

/** The shared memory of viewers that don't read; waiting viewers miss nothing. */
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MIB = 1024 * 1024;
const INDEXES = Array.from({ length: 100 }, (_, at) => 99 - at).join(' ');

async function newSilentViewer(memory: LiveMemory) {
  const it = newViewer(memory);
  it.stopReading();
  it.viewer.start();
  await it.largeSnapshot();
  return it;
}

/** Reads slowly, a part at a time, until its `init` is complete. */
async function readParts(it: Awaited<ReturnType<typeof newSilentViewer>>): Promise<void> {
  for (let part = 0; part < 200 && it.sent.length === 0; part += 1) {
    it.takeSome();
    await wait();
  }
}

test('a large init is sent in parts: a viewer that does not read is sent less than 1 MiB of it', async () => {
  const it = await newSilentViewer(newLiveMemory());
  await wait(60_000);
  expect(it.pending()).toBeGreaterThan(0);
  expect(it.maxPending()).toBeLessThan(MIB);
  await readParts(it);
  expect(it.sent).toEqual([`init ${INDEXES}`]);
  expect(it.maxPending()).toBeLessThan(MIB);
});

test('events during the parts follow them, once and in order, and are not mixed with them', async () => {
  const it = await newSilentViewer(newLiveMemory());
  for (const index of [99, 100, 101]) it.viewer.take(stored(index));
  it.viewer.take({ type: 'clear', below: 102 });
  it.viewer.take(stored(102));
  await readParts(it);
  it.readAgain();
  await wait();
  expect(it.sent).toEqual([`init ${INDEXES}`, '100', '101', 'clear', '102']);
});

test('overflowing during the parts: completes that init, and a second one recovers', async () => {
  const it = await newSilentViewer(newLiveMemory());
  for (let index = 100; index < 1200; index += 1) it.viewer.take(stored(index));
  await readParts(it);
  it.readAgain();
  await wait(300);
  await it.snapshot(1199);
  it.viewer.take(stored(1200));
  await wait();
  expect(it.sent).toEqual([`init ${INDEXES}`, 'init 1199', '1200']);
});

test('stopped between two parts: no more of them, no timer, and no memory after it is closed', async () => {
  const memory = newLiveMemory();
  const it = await newSilentViewer(memory);
  it.viewer.stop();
  expect(vi.getTimerCount()).toBe(0);
  it.viewer.release();
  expect(memory.budget.used).toBe(0);
});

test("thirty silent viewers hold at most their user's share; waiting ones do not read again", async () => {
  const memory = newLiveMemory(64 * MIB, 24 * MIB);
  const silent = [];
  for (let count = 0; count < 30; count += 1) silent.push(await newSilentViewer(memory));
  await wait(60_000);
  expect(memory.budget.used).toBeGreaterThan(4 * MIB);
  expect(memory.budget.used).toBeLessThanOrEqual(24 * MIB);
  expect(silent.filter((it) => it.pending() > 0).length).toBeLessThan(5);
  expect(silent.reduce((total, it) => total + it.reads(), 0)).toBe(0);
  for (const { viewer } of silent) {
    viewer.stop();
    viewer.release();
  }
  expect(memory.budget.used).toBe(0);
});

test('a viewer that waits for memory does not hold the snapshot that did not fit', async () => {
  const memory = newLiveMemory(MIB, MIB);
  memory.budget.reserve(2).set(MIB);
  const it = newViewer(memory);
  it.viewer.start();
  const bodies = Array.from({ length: 100 }, () => Buffer.alloc(16 * 1024, 'x'));
  await it.snapshotOf(bodies.map((body, at) => ({ ...record(99 - at), body })));
  expect(it.sent).toEqual([]);
  expect(bodies.filter(({ length }) => length > 0)).toEqual([]);
});

test('a viewer that waits for memory gets a new init, and each request after it, when another leaves', async () => {
  const memory = newLiveMemory(16 * MIB, 16 * MIB);
  const silent = await newSilentViewer(memory);
  const next = newViewer(memory);
  next.viewer.start();
  await next.largeSnapshot();
  next.viewer.take(stored(100));
  await wait(60_000);
  expect([next.sent, next.reads()]).toEqual([[], 0]);
  silent.viewer.stop();
  silent.viewer.release();
  await wait(300);
  next.viewer.take(stored(101));
  await next.snapshot(100, 99);
  next.viewer.take(stored(102));
  await wait();
  expect(next.sent).toEqual(['init 100 99', '101', '102']);
  expect(memory.budget.used).toBe(0);
});

test('an ordinary viewer is served while others use up the memory', async () => {
  const memory = newLiveMemory(1000, 1000);
  memory.budget.reserve(1).set(MIB);
  const it = newViewer(memory);
  it.viewer.start();
  await it.snapshot(1, 0);
  it.viewer.take(stored(2));
  await wait();
  expect(it.sent).toEqual(['init 1 0', '2']);
});

test('waiting events are counted: without memory they are dropped, and an init follows', async () => {
  const memory = newLiveMemory(MIB, MIB);
  const it = newViewer(memory);
  it.viewer.start();
  await it.snapshot(0);
  it.stopReading();
  for (let index = 1; index <= 100; index += 1) it.viewer.take(stored(index, 'x'.repeat(16 * 1024)));
  expect(memory.budget.used).toBeLessThanOrEqual(MIB / 2);
  it.readAgain();
  await wait(300);
  await it.snapshot(100);
  expect(it.sent.at(-1)).toBe('init 100');
});

test('four snapshots are read at a time, the others in order', async () => {
  const memory = newLiveMemory();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  for (let at = 0; at < 7; at += 1)
    void memory.reads.run(1, () => {
      begun.push(at);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  ends[0]?.();
  await wait();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});
