import { endpointTitle } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import { Link } from '@tanstack/react-router';
import { Star } from 'lucide-react';
import { SourceTag, Badge } from '../../ui/badges.tsx';
import { formatCount, timeAgo } from '../../ui/format.ts';
import { expiryLine, isExpired } from './endpoint-labels.ts';

/**
 * One endpoint on the dashboard. The link covers the whole card, but only the title is its name, so that a screen reader
 * does not read the figures with each link.
 */
export function EndpointCard({ endpoint, now }: { readonly endpoint: Endpoint; readonly now: number }) {
  const expired = isExpired(endpoint, now);
  return (
    <div className="relative flex h-full flex-col gap-3 rounded-lg border border-line bg-panel p-4 transition-colors duration-100 hover:border-line-strong hover:bg-sunk/50">
      <div className="flex flex-col gap-0.5">
        <div className="flex items-center gap-2">
          <h2
            dir="auto"
            className="min-w-0 grow truncate text-left text-lg font-semibold"
            title={endpointTitle(endpoint)}
          >
            <Link
              to="/endpoints/$uid"
              params={{ uid: endpoint.uid }}
              className="outline-none after:absolute after:inset-0 after:rounded-lg focus-visible:after:outline-2 focus-visible:after:outline-accent"
            >
              {endpointTitle(endpoint)}
            </Link>
          </h2>
          {endpoint.isFavorite === 'true' ? (
            <Star role="img" aria-label="Favorite" className="size-3.5 shrink-0 text-warn" />
          ) : null}
          <Badge tone={expired ? 'destructive' : 'success'}>{expired ? 'Expired' : 'Active'}</Badge>
        </div>
        <p className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 truncate font-mono text-sm text-ink-2" title={endpoint.uid}>
            {endpoint.uid}
          </span>
          <SourceTag source={endpoint.source} />
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2 border-t border-line pt-3">
        <Figure name="Requests" value={formatCount(endpoint.requestCount)} />
        <Figure
          name="Last activity"
          value={endpoint.latestRequest === null ? 'Never' : timeAgo(endpoint.latestRequest, now)}
        />
      </dl>
      <p className="mt-auto flex flex-wrap gap-x-1.5 text-sm text-ink-2">
        <span>Created {timeAgo(endpoint.createdAt, now)}</span>
        <span aria-hidden>·</span>
        <span>{expiryLine(endpoint, now)}</span>
      </p>
    </div>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-ink-2">{name}</dt>
      <dd className="truncate font-medium">{value}</dd>
    </div>
  );
}
