import { expect, test } from 'vitest';
import { sparklinePoints } from './stat-cards.tsx';

test('the highest value is at the top, zero at the bottom', () => {
  expect(sparklinePoints([0, 5, 10])).toBe('0.0,22.0 50.0,12.0 100.0,2.0');
});

test('zeros are a flat line', () => {
  expect(sparklinePoints([0, 0])).toBe('0.0,22.0 100.0,22.0');
});
