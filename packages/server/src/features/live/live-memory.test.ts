import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LiveMemory } from './live-memory.ts';
import type { Share } from './live-memory.ts';

const KIB = 1024;
/** Uncounted bytes per viewer. */
const FREE = 128 * KIB;

/** Takes this many bytes if there is room. */
function resize(share: Share, bytes: number): boolean {
  if (bytes > share.room) return false;
  share.note(bytes);
  return true;
}

test('a viewer that holds little is not counted, and always gets it', () => {
  const memory = new LiveMemory(KIB, KIB);
  memory.share(1).note(FREE + KIB);
  expect(memory.taken).toBe(KIB);
  expect(resize(memory.share(2), FREE)).toBe(true);
  expect(resize(memory.share(2), FREE + 1)).toBe(false);
  expect(memory.taken).toBe(KIB);
});

test('no viewer takes more than what remains: the next one gets as much', () => {
  const memory = new LiveMemory(1000, 1000);
  const [first, second, third] = [memory.share(1), memory.share(1), memory.share(1)];
  expect([resize(first, FREE + 501), resize(first, FREE + 500)]).toEqual([false, true]);
  expect([resize(second, FREE + 251), resize(second, FREE + 250)]).toEqual([false, true]);
  expect([resize(third, FREE + 126), resize(third, FREE + 125)]).toEqual([false, true]);
  expect(memory.taken).toBe(875);
});

test('a user with a full share takes nothing from others; the total is bounded too', () => {
  const memory = new LiveMemory(3000, 1000);
  for (const userId of [1, 2]) {
    expect(resize(memory.share(userId), FREE + 500)).toBe(true);
    memory.share(userId).note(FREE + 500);
    expect(resize(memory.share(userId), FREE + 1)).toBe(false);
  }
  expect(resize(memory.share(3), FREE + 500)).toBe(true);
  memory.share(3).note(FREE + 500);
  expect(resize(memory.share(4), FREE + 1)).toBe(false);
});

test('shrinking always succeeds, existing data always counts, and a release frees all of it', () => {
  const memory = new LiveMemory(1000, 1000);
  const share = memory.share(1);
  share.note(FREE + 5000);
  expect([resize(share, FREE + 4000), memory.taken]).toEqual([true, 4000]);
  share.release();
  share.note(FREE + 5000);
  expect(memory.taken).toBe(0);
});

test('four snapshots are read at a time, the others in order', async () => {
  const memory = new LiveMemory();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  for (let at = 0; at < 7; at += 1)
    void memory.read(1, () => {
      begun.push(at);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  ends[0]?.();
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});
