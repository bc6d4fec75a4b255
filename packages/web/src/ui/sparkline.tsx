import { clsx } from 'clsx';

const SPARKLINE_WIDTH = 100;
const SPARKLINE_HEIGHT = 24;
const INSET = 2;

interface SparklineProps {
  readonly values: readonly number[];
  /** What the values are: 'GET requests over time'. */
  readonly label: string;
  /** What one value covers, shown beside the line: 'per 4 min'. */
  readonly unit: string;
  readonly format: (value: number) => string;
  readonly className?: string;
}

/** A small line without axes. Its tooltip, which is also its name for screen readers, has the unit and the maximum. */
export function Sparkline({ values, label, unit, format, className }: SparklineProps) {
  if (values.length < 2) return null;
  const summary = `${label}, ${unit}. Highest: ${format(Math.max(...values))}`;
  return (
    <span
      role="img"
      aria-label={summary}
      title={summary}
      className={clsx('@container flex size-full min-w-0 items-center gap-2', className)}
    >
      <svg
        aria-hidden
        viewBox={`0 0 ${SPARKLINE_WIDTH} ${SPARKLINE_HEIGHT}`}
        preserveAspectRatio="none"
        className="hidden h-full w-0 grow overflow-visible @[2rem]:block"
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
      <span className="text-xs hidden whitespace-nowrap text-ink-3 @[8rem]:block">{unit}</span>
    </span>
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
