import { expect, test } from 'vitest';
import { sparklinePoints } from './sparkline-points.ts';

test('the highest value touches the top, zero lies at the bottom', () => {
  expect(sparklinePoints([0, 5, 10])).toBe('0.0,22.0 50.0,12.0 100.0,2.0');
});

test('nothing but zeros is a flat line', () => {
  expect(sparklinePoints([0, 0])).toBe('0.0,22.0 100.0,22.0');
});
