import { describe, expect, test } from 'vitest';
import { fittingBytes, MemoryBudget } from './memory-budget.ts';
import type { Reservation } from './memory-budget.ts';

test('a budget takes at most a quarter of the memory that the process may use', () => {
  const MIB = 1024 * 1024;
  expect(fittingBytes(256 * MIB, 2048 * MIB)).toBe(256 * MIB);
  expect(fittingBytes(256 * MIB, 512 * MIB)).toBe(128 * MIB);
  expect(fittingBytes(1)).toBe(1);
});

test('accepts up to its bytes exactly, and takes nothing on rejection', () => {
  const budget = new MemoryBudget({ bytes: 10 });
  const [one, other] = [budget.reserve('a'), budget.reserve('b')];
  expect([one.grow(6), other.grow(5), other.grow(4), one.grow(1)]).toEqual([true, false, true, false]);
  expect([budget.used, one.bytes, other.bytes]).toEqual([10, 6, 4]);
  other.release();
  expect([one.grow(5), one.grow(4), budget.used]).toEqual([false, true, 10]);
});

test('zero bytes always fit', () => {
  expect(new MemoryBudget({ bytes: 0 }).reserve('a').grow(0)).toBe(true);
});

test('an owner gets its share over all of its reservations', () => {
  const budget = new MemoryBudget({ bytes: 100, maxShare: 1 / 2 });
  const [first, second, other] = [budget.reserve(1), budget.reserve(1), budget.reserve(2)];
  expect([first.grow(30), second.grow(21), second.grow(20), other.grow(25)]).toEqual([true, false, true, true]);
  first.release();
  expect(second.grow(17)).toBe(true);
});

test('owners never use up everything together', () => {
  const budget = new MemoryBudget({ bytes: 100, maxShare: 1 / 2 });
  const [first, second, third] = [budget.reserve(1), budget.reserve(2), budget.reserve(3)];
  expect([first.grow(51), first.grow(50), second.grow(26), second.grow(25), third.grow(12)]).toEqual([
    false,
    true,
    false,
    true,
    true,
  ]);
  expect([budget.leftFor(1), budget.leftFor(2), budget.leftFor(4)]).toEqual([-18.5, -6, 6.5]);
  first.release();
  expect(second.grow(19)).toBe(true);
});

test('bytes that are held already count beyond the limit, and nothing else fits until they are released', () => {
  const budget = new MemoryBudget({ bytes: 100, maxShare: 1 / 2 });
  const [held, same, other] = [budget.reserve(1), budget.reserve(1), budget.reserve(2)];
  expect([budget.leftFor(1), budget.leftFor(2)]).toEqual([50, 50]);
  held.set(120);
  expect([budget.used, held.bytes, budget.leftFor(1), budget.leftFor(2)]).toEqual([120, 120, -70, -10]);
  expect([same.grow(1), other.grow(1), other.grow(0)]).toEqual([false, false, true]);
  held.set(30);
  expect([budget.used, budget.leftFor(1), budget.leftFor(2)]).toEqual([30, 20, 35]);
  held.release();
  held.set(10);
  expect([budget.used, held.bytes]).toEqual([0, 0]);
});

test('a reservation releases its bytes once', () => {
  const budget = new MemoryBudget({ bytes: 10 });
  const reservation = budget.reserve('a');
  reservation.grow(4);
  reservation.grow(3);
  reservation.release();
  reservation.release();
  expect([budget.used, reservation.bytes, reservation.grow(1)]).toEqual([0, 0, false]);
});

describe('with uncounted bytes', () => {
  const FREE = 128 * 1024;
  /** Two limits in bytes. */
  const budgetOf = (bytes: number, perOwner: number) =>
    new MemoryBudget({ bytes, maxShare: perOwner / bytes, uncounted: FREE });

  /** Takes this many bytes if that is fair. */
  function resize(reservation: Reservation, bytes: number): boolean {
    if (bytes > reservation.fairMax) return false;
    reservation.set(bytes);
    return true;
  }

  test('a reservation grows without a limit up to them, also when the budget is used up', () => {
    const budget = budgetOf(10, 10);
    const [one, other] = [budget.reserve('a'), budget.reserve('b')];
    expect([one.grow(FREE - 1), one.grow(12), one.grow(11), other.grow(FREE), other.grow(1)]).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
    expect([one.bytes, budget.used]).toEqual([FREE + 10, 10]);
    one.release();
    expect([budget.used, other.grow(10)]).toEqual([0, true]);
  });

  test('a small reservation does not count, and always gets its memory', () => {
    const budget = budgetOf(1024, 1024);
    budget.reserve(1).set(FREE + 1024);
    expect(budget.used).toBe(1024);
    expect(resize(budget.reserve(2), FREE)).toBe(true);
    expect(resize(budget.reserve(2), FREE + 1)).toBe(false);
    expect(budget.used).toBe(1024);
  });

  test('a reservation leaves as much as it takes to the next one', () => {
    const budget = budgetOf(1000, 1000);
    const [first, second, third] = [budget.reserve(1), budget.reserve(1), budget.reserve(1)];
    expect([resize(first, FREE + 501), resize(first, FREE + 500)]).toEqual([false, true]);
    expect([resize(second, FREE + 251), resize(second, FREE + 250)]).toEqual([false, true]);
    expect([resize(third, FREE + 126), resize(third, FREE + 125)]).toEqual([false, true]);
    expect(budget.used).toBe(875);
  });

  test('an owner with a full share takes nothing from others; the total is bounded too', () => {
    const budget = budgetOf(3000, 1000);
    for (const [owner, half] of [
      [1, 500],
      [2, 333],
    ] as const) {
      expect(resize(budget.reserve(owner), FREE + half + 1)).toBe(false);
      expect(resize(budget.reserve(owner), FREE + half)).toBe(true);
      budget.reserve(owner).set(FREE + half);
      expect(resize(budget.reserve(owner), FREE + 1)).toBe(false);
    }
    budget.reserve(3).set(FREE + 1334);
    expect(resize(budget.reserve(4), FREE + 1)).toBe(false);
  });

  test('shrinking always succeeds, existing data always counts, and a release frees all of it', () => {
    const budget = budgetOf(1000, 1000);
    const reservation = budget.reserve(1);
    reservation.set(FREE + 5000);
    expect([resize(reservation, FREE + 4000), budget.used]).toEqual([true, 4000]);
    reservation.release();
    reservation.set(FREE + 5000);
    expect(budget.used).toBe(0);
  });
});
