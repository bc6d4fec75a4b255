export const SPARKLINE_WIDTH = 100;
export const SPARKLINE_HEIGHT = 24;
const INSET = 2;

/** The points of a line through `values`, in a box of 100 by 24. A constant line is at the bottom. */
export function sparklinePoints(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  const step = values.length > 1 ? SPARKLINE_WIDTH / (values.length - 1) : 0;
  const height = (value: number): number => (most === 0 ? 0 : (value / most) * (SPARKLINE_HEIGHT - 2 * INSET));
  return values
    .map((value, at) => `${(at * step).toFixed(1)},${(SPARKLINE_HEIGHT - INSET - height(value)).toFixed(1)}`)
    .join(' ');
}
