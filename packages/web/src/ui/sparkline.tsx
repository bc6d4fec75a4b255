import { clsx } from 'clsx';

const SPARKLINE_WIDTH = 100;
const SPARKLINE_HEIGHT = 24;
const INSET = 2;

/** A small line without axes. Decorative, so hidden from screen readers. */
export function Sparkline({ values, className }: { readonly values: readonly number[]; readonly className?: string }) {
  if (values.length < 2) return null;
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${SPARKLINE_WIDTH} ${SPARKLINE_HEIGHT}`}
      preserveAspectRatio="none"
      className={clsx('overflow-visible', className)}
    >
      <polyline
        points={sparklinePoints(values)}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

/** The points of a line through `values`, in a box of 100 by 24. A constant line is at the bottom. */
export function sparklinePoints(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  const step = values.length > 1 ? SPARKLINE_WIDTH / (values.length - 1) : 0;
  const height = (value: number): number => (most === 0 ? 0 : (value / most) * (SPARKLINE_HEIGHT - 2 * INSET));
  return values
    .map((value, at) => `${(at * step).toFixed(1)},${(SPARKLINE_HEIGHT - INSET - height(value)).toFixed(1)}`)
    .join(' ');
}
