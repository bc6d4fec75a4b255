import { useQuery } from '@tanstack/react-query';
import { Plus, TriangleAlert, Webhook } from 'lucide-react';
import { errorMessage } from '../../api/client.ts';
import { endpointsQuery } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { EmptyState, Skeleton } from '../../ui/feedback.tsx';
import { Card } from '../../ui/page.tsx';
import { useNow } from '../../ui/state.ts';
import { EndpointCard } from './endpoint-card.tsx';
import { sortEndpoints } from './endpoint-labels.ts';

const GRID = 'grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-4';

/** Milliseconds between two reads of the counts while the dashboard is visible. */
const DASHBOARD_REFRESH_MS = 3000;

/** The dashboard: loading, failed, no endpoints, or the cards. */
export function EndpointCards() {
  const endpoints = useQuery({ ...endpointsQuery, refetchInterval: DASHBOARD_REFRESH_MS });
  const now = useNow();
  if (endpoints.isPending) return <CardsSkeleton />;
  if (endpoints.data === undefined)
    return <LoadError error={endpoints.error} onRetry={() => void endpoints.refetch()} />;
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

function LoadError({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <Card>
      <EmptyState
        error
        icon={<TriangleAlert />}
        title="Error loading endpoints"
        actions={<Button onClick={onRetry}>Try again</Button>}
      >
        {errorMessage(error, 'Please try again.')}
      </EmptyState>
    </Card>
  );
}

function NoEndpoints() {
  return (
    <Card>
      <EmptyState
        icon={<Webhook />}
        title="No endpoints yet"
        actions={
          <Button variant="primary" onClick={() => runCommand(COMMAND_IDS.newEndpoint)}>
            <Plus /> Create Endpoint
          </Button>
        }
      >
        Create an endpoint, enter its URL in the service that sends webhooks, and see the requests arrive.
      </EmptyState>
    </Card>
  );
}
