import type { CapturedRequest } from '@creel/contract';

const BUCKETS = 16;

/** Milliseconds. A shorter burst would have a unit that means little to a reader: 'per 0.6 ms'. */
const MIN_BUCKET_MS = 1000;

/** The fields of a request that the sparklines use. */
export type SparklineRequest = Pick<CapturedRequest, 'timestamp' | 'method' | 'size' | 'index'>;

/** A time range in milliseconds. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/** Counts times (milliseconds) in `buckets` equal parts of a range. Empty for no times and for an empty range. */
export function bucketCounts(times: readonly number[], { first, last }: Span, buckets: number): number[] {
  if (times.length === 0 || last <= first) return [];
  const counts = Array.from({ length: buckets }, () => 0);
  const width = (last - first) / buckets;
  for (const time of times) {
    const at = Math.min(buckets - 1, Math.max(0, Math.floor((time - first) / width)));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/**
 * Requests over time: all, GET and POST. All three cover the range from the oldest to the newest request, but at least
 * 16 seconds. A range up to now would show an old burst as one step at the edge.
 */
export function sparklineSeries(requests: readonly SparklineRequest[]): {
  all: number[];
  get: number[];
  post: number[];
  /** Milliseconds that each value covers. */
  bucketMs: number;
} {
  const timed = requests.map(({ method, timestamp }) => ({ method, time: Date.parse(timestamp) }));
  const last = Math.max(...timed.map(({ time }) => time));
  const oldest = Math.min(...timed.map(({ time }) => time));
  const span = { first: Math.min(oldest, last - BUCKETS * MIN_BUCKET_MS), last };
  const countsOf = (method?: string): number[] => {
    const chosen = timed.filter((each) => method === undefined || each.method === method);
    return bucketCounts(
      chosen.map(({ time }) => time),
      span,
      BUCKETS,
    );
  };
  return {
    all: countsOf(),
    get: countsOf('GET'),
    post: countsOf('POST'),
    bucketMs: Math.max(0, span.last - span.first) / BUCKETS,
  };
}

/** The sizes of the newest requests, oldest first. */
export function sizeSeries(requests: readonly SparklineRequest[]): number[] {
  return requests
    .toSorted((a, b) => b.index - a.index)
    .slice(0, BUCKETS)
    .toReversed()
    .map((request) => request.size);
}
