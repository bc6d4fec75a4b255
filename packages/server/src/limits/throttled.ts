/** A function that runs `work` at most once per interval. Calls in between do nothing. */
export function throttled<Args extends unknown[]>(
  intervalMs: number,
  now: () => number,
  work: (...args: Args) => void,
): (...args: Args) => void {
  let ranAt = -Infinity;
  return (...args) => {
    if (now() - ranAt < intervalMs) return;
    ranAt = now();
    work(...args);
  };
}
