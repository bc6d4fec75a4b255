import { expect, test } from 'vitest';
import { bucketCounts, sizeCourse, sparklineCourses } from './sparkline-courses.ts';

test('times fall into equal parts between the oldest and now', () => {
  expect(bucketCounts([0, 10, 55, 99], 100, 4)).toEqual([2, 0, 1, 1]);
  expect(bucketCounts([100], 100, 2)).toEqual([1, 0]);
  expect(bucketCounts([], 100, 4)).toEqual([]);
});

test('a clock that runs behind does not lose a request', () => {
  expect(bucketCounts([50, 200], 100, 2)).toEqual([1, 1]);
});

test('each line counts its method, and sizes run from old to new', () => {
  const request = (index: number, method: string, size: number) => ({
    index,
    method,
    size,
    timestamp: new Date(index * 1000).toISOString(),
  });
  const requests = [request(2, 'POST', 30), request(0, 'GET', 10), request(1, 'POST', 20)];
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const { all, get, post } = sparklineCourses(requests, 3000);
  expect([sum(all), sum(get), sum(post)]).toEqual([3, 1, 2]);
  expect(sizeCourse(requests)).toEqual([10, 20, 30]);
});
