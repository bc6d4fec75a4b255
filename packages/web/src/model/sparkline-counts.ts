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
