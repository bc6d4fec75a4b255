import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import type { RequestFilter } from '../../../api/request-filter.ts';
import type { Gap } from '../../../api/request-list.ts';
import { gapQuery } from '../../../api/request-queries.ts';
import type { GapEnd } from '../../../api/request-queries.ts';
import { Button, InlineButton } from '../../../ui/button.tsx';
import { EmptyState, Skeleton, SkeletonRows } from '../../../ui/feedback.tsx';
import { counted, formatCount } from '../../../ui/format.ts';

/** Shown until the first page of the list is loaded. */
export function ListLoading() {
  return (
    <div role="status" aria-label="Loading requests">
      <SkeletonRows />
    </div>
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
  return (
    <EmptyState
      icon={<SearchX />}
      title={method === undefined ? 'No request matches' : `No ${method} request matches`}
      actions={<Button onClick={onClear}>Clear the filter</Button>}
    >
      Searched {counted(searched, 'stored request')}: method, path, query, headers and body. New requests that match
      appear here.
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
export function NoneOfMethod({ onAll }: { readonly onAll: () => void }) {
  return (
    <EmptyState title="No requests received yet." actions={<Button onClick={onAll}>Show all requests</Button>}>
      <p>Send a request to this endpoint to see it here.</p>
      <p>Requests of other methods are under All Requests.</p>
    </EmptyState>
  );
}

/** Every request of the list is being deleted, or would be shown again by Undo. */
export function BeingDeleted({ count }: { readonly count: number }) {
  return <EmptyState title={`${formatCount(count)} requests are being deleted`}>New requests appear here.</EmptyState>;
}

interface GapRowProps {
  readonly uid: string;
  readonly filter: RequestFilter;
  readonly gap: Gap;
  /** The end that is nearer to the visible rows. */
  readonly end: GapEnd;
  readonly position: number;
  readonly top: number;
  readonly height: number;
}

/** A gap of the list. Loads its requests when it becomes visible. */
export function GapRow({ uid, filter, gap, end, position, top, height }: GapRowProps) {
  const { isError, refetch } = useQuery(gapQuery(uid, filter, gap, end));
  return (
    <div
      role="row"
      aria-rowindex={position + 2}
      className="absolute top-0 left-0 flex w-full items-center gap-3 border-b border-line px-6 text-ink-2"
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {isError ? (
        <span role="gridcell">
          These requests could not be loaded.{' '}
          <InlineButton className="font-medium text-accent" onClick={() => void refetch()}>
            Try again
          </InlineButton>
        </span>
      ) : (
        <>
          <span role="gridcell" className="sr-only">
            Loading more requests
          </span>
          <Skeleton className="h-3 w-10" />
          <Skeleton className="h-3 w-14" />
          <Skeleton className="h-3 grow" />
        </>
      )}
    </div>
  );
}
