import { PLANS, endpointTitle, isExpired } from '@creel/contract';
import type { Endpoint, Tier } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Star } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { endpointsQuery } from '../api/queries.ts';
import { expiryLine, sortEndpoints, countedEndpoints } from '../features/endpoints/endpoint-labels.ts';
import { SourceTag } from '../ui/badges.tsx';
import { Loading } from '../ui/feedback.tsx';
import { formatCount } from '../ui/format.ts';
import { useNow } from '../ui/state.ts';

/** The endpoints, favorites first, then newest first. */
export function EndpointList({ tier }: { readonly tier: Tier }) {
  const endpoints = useQuery(endpointsQuery);
  const now = useNow();
  const { uid } = useParams({ strict: false });
  return (
    <div className="flex min-h-0 grow flex-col">
      <div className="flex items-center justify-between px-2 pb-2 text-sm text-ink-2">
        <h2 id="endpoint-list">Endpoints</h2>
        {endpoints.data === undefined ? null : (
          <span title="Expired endpoints do not count">
            {countedEndpoints(endpoints.data, now)} of {PLANS[tier].endpoints}
          </span>
        )}
      </div>
      {endpoints.isPending ? (
        <Loading label="Loading endpoints" bars={['h-9', 'h-9', 'h-9']} className="gap-2 px-2" />
      ) : null}
      {endpoints.data === undefined && endpoints.isError ? (
        <p role="alert" className="px-2 py-1 text-bad">
          Failed to load endpoints
        </p>
      ) : null}
      {endpoints.data === undefined ? null : (
        <ul aria-labelledby="endpoint-list" className="-mx-0.5 min-h-0 overflow-y-auto px-0.5 pb-2">
          {sortEndpoints(endpoints.data).map((endpoint) => (
            <li key={endpoint.uid}>
              <EndpointEntry endpoint={endpoint} isCurrent={endpoint.uid === uid} now={now} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface EndpointEntryProps {
  readonly endpoint: Endpoint;
  /** True if its page is open. It is then scrolled into view. */
  readonly isCurrent: boolean;
  readonly now: number;
}

function EndpointEntry({ endpoint, isCurrent, now }: EndpointEntryProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent]);
  const expired = isExpired(endpoint, now);
  const isFavorite = endpoint.isFavorite === 'true';
  return (
    <Link
      ref={link}
      to="/endpoints/$uid"
      params={{ uid: endpoint.uid }}
      className="group grid grid-cols-[0.375rem_minmax(0,1fr)_auto] items-center gap-x-2 gap-y-0.5 rounded-md px-2 py-1.5 outline-offset-[-2px] transition-colors duration-100 hover:bg-sunk aria-[current=page]:bg-selected"
    >
      <span aria-hidden className={clsx('size-1.5 rounded-full', expired ? 'bg-ink-3' : 'bg-ok')} />
      <span
        dir="auto"
        title={endpointTitle(endpoint)}
        className={clsx(
          'truncate text-left font-semibold',
          endpoint.name === null && 'font-mono text-sm',
          expired && 'text-ink-2',
        )}
      >
        {endpointTitle(endpoint)}
      </span>
      {isFavorite ? (
        <Star role="img" aria-label="Favorite" className="size-3 text-warn" />
      ) : (
        <span className="font-mono text-xs text-ink-2" title="Requests stored">
          {formatCount(endpoint.requestCount)}
          <span className="sr-only"> stored</span>
        </span>
      )}
      <span className="col-span-2 col-start-2 flex min-w-0 items-center gap-1 text-xs text-ink-2">
        <span className="shrink-0">{expiryLine(endpoint, now)}</span>
        <SourceTag source={endpoint.source} />
      </span>
    </Link>
  );
}
