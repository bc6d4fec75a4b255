import { expect, test } from 'vitest';
import { countedEndpoints, createBlock } from './plan-limit-labels.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');
const alive = { isFavorite: 'false', expiresAt: '2026-11-22T00:00:00.000Z' } as const;
const dead = { isFavorite: 'false', expiresAt: '2026-11-20T00:00:00.000Z' } as const;
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test('expired endpoints do not count', () => {
  expect(countedEndpoints([alive, dead, alive], now)).toBe(2);
});

test.each([
  ['FREE', 0, undefined],
  ['FREE', 1, 'Free users can only create one endpoint. Please upgrade for more.'],
  ['BASIC', 4, undefined],
  ['BASIC', 5, 'Basic users can only create five endpoints. Please upgrade for more.'],
  ['PREMIUM', 19, undefined],
  ['PREMIUM', 20, 'Premium users can only create twenty endpoints.'],
] as const)('%s with %i endpoints: %s', (tier, count, sentence) => {
  expect(createBlock(tier, times(count, alive), now)).toBe(sentence);
});

test('before the list is loaded, the server decides', () => {
  expect(createBlock('FREE', undefined, now)).toBeUndefined();
});

test('an expired endpoint does not count against the limit', () => {
  expect(createBlock('FREE', [dead], now)).toBeUndefined();
});
