import { expect, test } from 'vitest';
import { bucketCounts, sizeSeries, sparklinePoints, sparklineSeries } from './stat-cards.tsx';

test('the highest value is at the top, zero at the bottom', () => {
  expect(sparklinePoints([0, 5, 10])).toBe('0.0,22.0 50.0,12.0 100.0,2.0');
});

test('zeros are a flat line', () => {
  expect(sparklinePoints([0, 0])).toBe('0.0,22.0 100.0,22.0');
});

test('times are counted in equal parts of the range', () => {
  const span = { first: 0, last: 100 };
  expect(bucketCounts([0, 10, 55, 100], span, 4)).toEqual([2, 0, 1, 1]);
  expect(bucketCounts([], span, 4)).toEqual([]);
  expect(bucketCounts([100, 100], { first: 100, last: 100 }, 2)).toEqual([]);
});

const at = (ms: number, index: number) => ({
  index,
  method: 'POST',
  size: 1,
  timestamp: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
});

test('an old burst still shows its shape', () => {
  const { all } = sparklineSeries([0, 1000, 40_000, 41_000, 42_000, 80_000].map(at));
  expect(all.filter((count) => count > 0)).toEqual([2, 3, 1]);
});

test('a value covers at least a second, so a shorter burst is one step at the end', () => {
  const { all, bucketMs } = sparklineSeries([0, 9].map(at));
  expect(bucketMs).toBe(1000);
  expect(all).toEqual([...Array.from({ length: 15 }, () => 0), 2]);
});

test('each line counts its method, and sizes are ordered from old to new', () => {
  const request = (index: number, method: string, size: number) => ({
    index,
    method,
    size,
    timestamp: new Date(index * 1000).toISOString(),
  });
  const requests = [request(2, 'POST', 30), request(0, 'GET', 10), request(1, 'POST', 20)];
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const { all, get, post } = sparklineSeries(requests);
  expect([sum(all), sum(get), sum(post)]).toEqual([3, 1, 2]);
  expect(sizeSeries(requests)).toEqual([10, 20, 30]);
});
