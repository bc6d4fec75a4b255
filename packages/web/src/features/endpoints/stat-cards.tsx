import type { EndpointDetail, CapturedRequest } from '@creel/contract';
import { clsx } from 'clsx';
import { ArrowDownToLine, ArrowUpFromLine, Inbox, Scale } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatAverageSize, formatCount, formatSize, formatRoughDuration } from '../../ui/format.ts';

/** Number of the newest requests that the sparklines show. */
const LINE_REQUESTS = 500;

interface StatCardsProps {
  readonly endpoint: EndpointDetail;
  /** The newest requests, for the sparklines. */
  readonly recent: readonly SparklineRequest[];
  readonly receivedInSession: number;
}

/** Four figures over all stored requests, with sparklines of the newest ones. */
export function StatCards({ endpoint, recent, receivedInSession }: StatCardsProps) {
  const { stats } = endpoint;
  const newest = recent.slice(0, LINE_REQUESTS);
  const series = sparklineSeries(newest);
  const sizes = sizeSeries(newest);
  const overTime = (what: string) => ({
    label: `${what} over time`,
    unit: `per ${formatRoughDuration(series.bucketMs)}`,
    format: formatCount,
  });
  return (
    <section aria-label="Statistics" className="@container -mx-5 border-t border-line max-md:-mx-4 max-md:mt-1">
      <div className="grid grid-cols-2 @xl:grid-cols-4 @5xl:grid-cols-[1.5fr_1fr_1fr_1fr]">
        <StatCard
          title="Total Requests"
          value={formatCount(stats.total)}
          received={receivedInSession}
          icon={<Inbox />}
          line={<Sparkline {...overTime('Requests')} values={series.all} className="text-accent" />}
        />
        <StatCard
          title="GET Requests"
          value={formatCount(stats.byMethod['GET'] ?? 0)}
          icon={<ArrowDownToLine />}
          line={<Sparkline {...overTime('GET requests')} values={series.get} className="text-get" />}
        />
        <StatCard
          title="POST Requests"
          value={formatCount(stats.byMethod['POST'] ?? 0)}
          icon={<ArrowUpFromLine />}
          line={<Sparkline {...overTime('POST requests')} values={series.post} className="text-post" />}
        />
        <StatCard
          title="Average Size"
          value={formatAverageSize(stats.averageSize)}
          icon={<Scale />}
          line={
            <Sparkline
              label="Sizes"
              unit={`newest ${sizes.length}`}
              format={formatSize}
              values={sizes}
              className="text-other"
            />
          }
        />
      </div>
    </section>
  );
}

interface StatCardProps {
  readonly title: string;
  readonly value: string;
  /** Number of requests received since the page was opened. */
  readonly received?: number;
  readonly icon: ReactNode;
  readonly line: ReactNode;
}

/** One line in a wide window, two in a narrower one. */
function StatCard({ title, value, received = 0, icon, line }: StatCardProps) {
  return (
    <div className="flex min-w-0 flex-col border-line px-5 py-1.5 not-first:border-l max-md:px-4 @max-xl:nth-3:border-l-0 @max-xl:nth-[n+3]:border-t @5xl:h-5.5 @5xl:flex-row @5xl:items-center @5xl:gap-2.5 @5xl:py-0">
      <h2 className="flex shrink-0 items-center gap-1.5 text-sm text-ink-2 [&_svg]:size-3">
        {icon}
        {title}
      </h2>
      <div className="flex min-w-0 grow items-baseline gap-2">
        <span className="text-lg font-semibold tracking-tight whitespace-nowrap" data-stat={title}>
          {value}
        </span>
        {received === 0 ? null : (
          <span className="text-xs font-medium whitespace-nowrap text-ok">
            +{formatCount(received)} in last session
          </span>
        )}
        <span className="ml-auto h-4 min-w-0 max-w-44 grow self-center pl-2 max-sm:hidden">{line}</span>
      </div>
    </div>
  );
}

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
function Sparkline({ values, label, unit, format, className }: SparklineProps) {
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
  const max = Math.max(...values, 0);
  const step = values.length > 1 ? SPARKLINE_WIDTH / (values.length - 1) : 0;
  const height = (value: number): number => (max === 0 ? 0 : (value / max) * (SPARKLINE_HEIGHT - 2 * INSET));
  return values
    .map((value, at) => `${(at * step).toFixed(1)},${(SPARKLINE_HEIGHT - INSET - height(value)).toFixed(1)}`)
    .join(' ');
}

const BUCKETS = 16;

/** Milliseconds. A shorter burst would have a unit that means little to a reader: 'per 0.6 ms'. */
const MIN_BUCKET_MS = 1000;

/** The fields of a request that the sparklines use. */
type SparklineRequest = Pick<CapturedRequest, 'timestamp' | 'method' | 'size' | 'index'>;

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
export function sparklineSeries(requests: readonly SparklineRequest[]) {
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
    /** Milliseconds that each value covers. */
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
