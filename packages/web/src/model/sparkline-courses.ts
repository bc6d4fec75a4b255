import type { CapturedRequest } from '@creel/contract';

const BUCKETS = 16;

/** What of a request the lines are made of. */
export type SparklineRequest = Pick<CapturedRequest, 'timestamp' | 'method' | 'size' | 'index'>;

/** Counts of times (milliseconds) in `buckets` equal parts of the span from the oldest to now; empty without times. */
export function bucketCounts(times: readonly number[], now: number, buckets: number): number[] {
  if (times.length === 0) return [];
  const counts = Array.from({ length: buckets }, () => 0);
  const first = times.reduce((oldest, time) => Math.min(oldest, time), now);
  const width = Math.max(1, now - first) / buckets;
  for (const time of times) {
    const at = Math.min(buckets - 1, Math.max(0, Math.floor((time - first) / width)));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** How many came when, of the requests given: all, GET, POST. */
export function sparklineCourses(
  requests: readonly SparklineRequest[],
  now: number,
): { all: number[]; get: number[]; post: number[] } {
  const timesOf = (chosen: readonly SparklineRequest[]): number[] =>
    chosen.map((request) => Date.parse(request.timestamp));
  const course = (method: string): number[] =>
    bucketCounts(timesOf(requests.filter((request) => request.method === method)), now, BUCKETS);
  return { all: bucketCounts(timesOf(requests), now, BUCKETS), get: course('GET'), post: course('POST') };
}

/** The sizes of the newest requests, oldest first. */
export function sizeCourse(requests: readonly SparklineRequest[]): number[] {
  return requests
    .toSorted((a, b) => b.index - a.index)
    .slice(0, BUCKETS)
    .toReversed()
    .map((request) => request.size);
}
