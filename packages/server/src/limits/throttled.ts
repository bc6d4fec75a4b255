/** A function that runs `work` at most once per interval. Calls in between do nothing. `now` is a monotonic clock. */
export function throttled<Args extends unknown[]>(
  intervalMs: number,
  work: (...args: Args) => void,
  now = (): number => performance.now(),
): (...args: Args) => void {
  let ranAt = -Infinity;
  return (...args) => {
    if (now() - ranAt < intervalMs) return;
    ranAt = now();
    work(...args);
  };
}
