import { clsx } from 'clsx';
import { SPARKLINE_HEIGHT, SPARKLINE_WIDTH, sparklinePoints } from './sparkline-points.ts';

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
