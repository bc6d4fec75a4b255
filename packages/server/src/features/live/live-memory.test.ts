import { expect, test } from 'vitest';
import { LiveMemory } from './live-memory.ts';

const KIB = 1024;
/** Uncounted bytes per viewer. */
const FREE = 128 * KIB;

test('a viewer that holds little is not counted, and always gets it', () => {
  const memory = new LiveMemory(KIB, KIB);
  memory.share(1).note(FREE + KIB);
  expect(memory.taken).toBe(KIB);
  expect(memory.share(2).resize(FREE)).toBe(true);
  expect(memory.share(2).resize(FREE + 1)).toBe(false);
  expect(memory.taken).toBe(KIB);
});

test('no viewer takes more than what remains: the next one gets as much', () => {
  const memory = new LiveMemory(1000, 1000);
  const [first, second, third] = [memory.share(1), memory.share(1), memory.share(1)];
  expect([first.resize(FREE + 501), first.resize(FREE + 500)]).toEqual([false, true]);
  expect([second.resize(FREE + 251), second.resize(FREE + 250)]).toEqual([false, true]);
  expect([third.resize(FREE + 126), third.resize(FREE + 125)]).toEqual([false, true]);
  expect(memory.taken).toBe(875);
});

test('a user with a full share takes nothing from others; the total is bounded too', () => {
  const memory = new LiveMemory(3000, 1000);
  for (const userId of [1, 2]) {
    expect(memory.share(userId).resize(FREE + 500)).toBe(true);
    memory.share(userId).note(FREE + 500);
    expect(memory.share(userId).resize(FREE + 1)).toBe(false);
  }
  expect(memory.share(3).resize(FREE + 500)).toBe(true);
  memory.share(3).note(FREE + 500);
  expect(memory.share(4).resize(FREE + 1)).toBe(false);
});

test('shrinking always succeeds, existing data always counts, and a release frees all of it', () => {
  const memory = new LiveMemory(1000, 1000);
  const share = memory.share(1);
  share.note(FREE + 5000);
  expect([share.resize(FREE + 4000), memory.taken]).toEqual([true, 4000]);
  share.release();
  share.note(FREE + 5000);
  expect(memory.taken).toBe(0);
});

test('four snapshots are read at a time, the others in order', async () => {
  const memory = new LiveMemory();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  for (let at = 0; at < 7; at += 1)
    memory.read(() => {
      begun.push(at);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  ends[0]?.();
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});
