import { Link } from '@tanstack/react-router';
import { CloudOff, SearchX } from 'lucide-react';
import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { SkeletonRows } from '../../../ui/skeleton-rows.tsx';

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

/** No loaded request contains the text. Offers to search all stored requests. */
export function NothingFound({ find, onClear }: { readonly find: string; readonly onClear: () => void }) {
  return (
    <EmptyState
      icon={<SearchX />}
      title="No loaded request matches"
      actions={
        <>
          <Button onClick={onClear}>Clear the filter</Button>
          <Button asChild>
            <Link to="/search" search={{ q: find }}>
              Search everything
            </Link>
          </Button>
        </>
      }
    >
      The filter searches method, path, source and event of the loaded requests.
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
