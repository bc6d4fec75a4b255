import { CloudOff, SearchX } from 'lucide-react';
import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState, SkeletonRows } from '../../../ui/feedback.tsx';
import { formatCount } from '../../../ui/format.ts';

export function ListLoading() {
  return (
    <div role="status" aria-label="Loading requests">
      <SkeletonRows />
    </div>
  );
}

export function ListFailed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <EmptyState
      error
      icon={<CloudOff />}
      title="The requests could not be loaded"
      actions={<Button onClick={onRetry}>Try again</Button>}
    >
      {errorMessage(error, 'Failed to fetch temporary requests.')}
    </EmptyState>
  );
}

interface NothingFoundProps {
  /** Number of stored requests, all of which were searched. */
  readonly searched: number;
  readonly method: string | undefined;
  readonly onClear: () => void;
}

/** No stored request matches the filter. */
export function NothingFound({ searched, method, onClear }: NothingFoundProps) {
  const requests = `${formatCount(searched)} stored ${searched === 1 ? 'request' : 'requests'}`;
  return (
    <EmptyState
      icon={<SearchX />}
      title={method === undefined ? 'No request matches' : `No ${method} request matches`}
      actions={<Button onClick={onClear}>Clear the filter</Button>}
    >
      Searched {requests}: method, path, query, headers and body. New requests that match appear here.
    </EmptyState>
  );
}

/** The filter in the URL has a mistake, which the field shows. */
export function FilterInvalid({ onClear }: { readonly onClear: () => void }) {
  return (
    <EmptyState error title="This filter has a mistake" actions={<Button onClick={onClear}>Clear the filter</Button>}>
      Correct it in the field above.
    </EmptyState>
  );
}

/** There are requests, but none with this method. */
export function NoneOfMethod({ method, onAll }: { readonly method: string; readonly onAll: () => void }) {
  return (
    <EmptyState title={`No ${method} requests`} actions={<Button onClick={onAll}>Show all requests</Button>}>
      Requests of other methods are under All Requests.
    </EmptyState>
  );
}
