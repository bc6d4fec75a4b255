import { expect, test } from 'vitest';
import { MemoryBudget } from './memory-budget.ts';

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

test('an owner gets its share, over all of its reservations, and the others get the rest', () => {
  const budget = new MemoryBudget({ bytes: 100, maxShare: 1 / 2 });
  const [first, second, other] = [budget.reserve(1), budget.reserve(1), budget.reserve(2)];
  expect([first.grow(30), second.grow(21), second.grow(20), other.grow(50)]).toEqual([true, false, true, true]);
  first.release();
  expect(second.grow(30)).toBe(true);
});

test('bytes that are held already count beyond the limit, and nothing else fits until they are gone', () => {
  const budget = new MemoryBudget({ bytes: 100, maxShare: 1 / 2 });
  const [held, same, other] = [budget.reserve(1), budget.reserve(1), budget.reserve(2)];
  expect([held.left, other.left]).toEqual([50, 50]);
  held.set(120);
  expect([budget.used, held.bytes, same.left, other.left]).toEqual([120, 120, -70, -20]);
  expect([same.grow(1), other.grow(1), other.grow(0)]).toEqual([false, false, true]);
  held.set(30);
  expect([budget.used, same.left, other.left]).toEqual([30, 20, 50]);
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
