import { endpointTitle, isExpired } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Plus, Star, Webhook } from 'lucide-react';
import { useId } from 'react';
import { failureOf } from '../../api/client.ts';
import { endpointsQuery, onceLoaded } from '../../api/queries.ts';
import { SourceTag, Badge, FACT, FACTS } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { EmptyState, LoadError, Skeleton } from '../../ui/feedback.tsx';
import { formatCount, timeAgo } from '../../ui/format.ts';
import { Page, Card } from '../../ui/page.tsx';
import { useNow } from '../../ui/state.ts';
import { sortEndpoints, expiryLine } from './endpoint-labels.ts';

/** Milliseconds between two reads of the counts while the dashboard is visible. */
const DASHBOARD_REFRESH_MS = 3000;

/** The dashboard: every endpoint as a card. Without endpoints, the button is beside the text that says what to do. */
export function HomePage() {
  const endpoints = useQuery({ ...endpointsQuery, refetchInterval: onceLoaded(DASHBOARD_REFRESH_MS) });
  return (
    <Page
      title="Dashboard"
      description="Your endpoints and their captured requests."
      actions={endpoints.data?.length === 0 ? undefined : <CreateButton />}
    >
      <EndpointCards endpoints={endpoints} />
    </Page>
  );
}

function CreateButton() {
  return (
    <Button variant="primary" onClick={() => runCommand(COMMAND_IDS.newEndpoint)}>
      <Plus /> Create Endpoint
    </Button>
  );
}

const GRID = 'grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-4';

/** Loading, failed, no endpoints, or the cards. */
function EndpointCards({ endpoints }: { readonly endpoints: UseQueryResult<Endpoint[]> }) {
  const now = useNow();
  if (endpoints.isPending) return <CardsSkeleton />;
  if (endpoints.data === undefined) {
    return (
      <Card>
        <LoadError title="Error loading endpoints" {...failureOf(endpoints)} />
      </Card>
    );
  }
  if (endpoints.data.length === 0) return <NoEndpoints />;
  return (
    <ul className={GRID}>
      {sortEndpoints(endpoints.data).map((endpoint) => (
        <li key={endpoint.uid} className="min-w-0">
          <EndpointCard endpoint={endpoint} now={now} />
        </li>
      ))}
    </ul>
  );
}

function CardsSkeleton() {
  return (
    <div role="status" aria-label="Loading endpoints" className={GRID}>
      {['first', 'second', 'third'].map((place) => (
        <Card key={place} className="flex h-44 flex-col gap-3 p-4" data-skeleton>
          <Skeleton className="h-5 w-2/3" />
          <Skeleton className="h-4 w-1/2" />
          <Skeleton className="mt-3 h-9" />
          <Skeleton className="mt-auto h-4 w-3/4" />
        </Card>
      ))}
    </div>
  );
}

function NoEndpoints() {
  return (
    <Card>
      <EmptyState icon={<Webhook />} title="No endpoints yet" actions={<CreateButton />}>
        Create an endpoint, enter its URL in the service that sends webhooks, and see the requests arrive.
      </EmptyState>
    </Card>
  );
}

/**
 * One endpoint on the dashboard. The whole card is a link. Its name is only the title, so that a screen reader does not
 * read the figures with each link.
 */
function EndpointCard({ endpoint, now }: { readonly endpoint: Endpoint; readonly now: number }) {
  const titleId = useId();
  const expired = isExpired(endpoint, now);
  return (
    <Link
      to="/endpoints/$uid"
      params={{ uid: endpoint.uid }}
      aria-labelledby={titleId}
      className="flex h-full flex-col gap-3 rounded-lg border border-line bg-panel p-4 transition-colors duration-100 hover:border-line-strong hover:bg-sunk/50"
    >
      <div className="flex flex-col gap-0.5">
        <div className="flex items-center gap-2">
          <h2
            id={titleId}
            dir="auto"
            className="min-w-0 grow truncate text-left text-lg font-semibold"
            title={endpointTitle(endpoint)}
          >
            {endpointTitle(endpoint)}
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
      <p className={clsx(FACTS, 'mt-auto text-sm text-ink-2')}>
        <span className={FACT}>Created {timeAgo(endpoint.createdAt, now)}</span>
        <span className={FACT}>{expiryLine(endpoint, now)}</span>
      </p>
    </Link>
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
