import type { EndpointDetail } from '@creel/contract';
import { clsx } from 'clsx';
import { ArrowDownToLine, ArrowUpFromLine, Inbox, Scale } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatAverageSize, formatCount, formatSize, formatLength } from '../../ui/format.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { sizeSeries, sparklineSeries } from './sparkline-series.ts';
import type { SparklineRequest } from './sparkline-series.ts';

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
  const courses = sparklineSeries(newest);
  const sizes = sizeSeries(newest);
  const overTime = (what: string) => ({
    label: `${what} over time`,
    unit: `per ${formatLength(courses.bucketMs)}`,
    format: formatCount,
  });
  return (
    <section aria-label="Statistics" className="@container -mx-5 border-t border-line max-md:-mx-4 max-md:mt-1">
      <div className="grid grid-cols-2 @xl:grid-cols-4 @5xl:grid-cols-[1.5fr_1fr_1fr_1fr]">
        <StatCard
          title="Total Requests"
          value={formatCount(stats.total)}
          change={receivedInSession}
          icon={<Inbox />}
          line={<Sparkline {...overTime('Requests')} values={courses.all} className="text-accent" />}
        />
        <StatCard
          title="GET Requests"
          value={formatCount(stats.byMethod['GET'] ?? 0)}
          icon={<ArrowDownToLine />}
          line={<Sparkline {...overTime('GET requests')} values={courses.get} className="text-get" />}
        />
        <StatCard
          title="POST Requests"
          value={formatCount(stats.byMethod['POST'] ?? 0)}
          icon={<ArrowUpFromLine />}
          line={<Sparkline {...overTime('POST requests')} values={courses.post} className="text-post" />}
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
  readonly change?: number;
  readonly icon: ReactNode;
  readonly line: ReactNode;
}

/** One line in a wide window, two in a narrower one. */
function StatCard({ title, value, change = 0, icon, line }: StatCardProps) {
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
        {change === 0 ? null : (
          <span className={clsx('text-xs font-medium whitespace-nowrap', change > 0 ? 'text-ok' : 'text-bad')}>
            {change > 0 ? '+' : ''}
            {formatCount(change)} in last session
          </span>
        )}
        <span className="ml-auto h-4 min-w-0 max-w-44 grow self-center pl-2 max-sm:hidden">{line}</span>
      </div>
    </div>
  );
}
