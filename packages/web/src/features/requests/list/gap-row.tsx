import { useQuery } from '@tanstack/react-query';
import type { RequestFilter } from '../../../api/request-filter.ts';
import type { Gap } from '../../../api/request-list.ts';
import { gapQuery } from '../../../api/request-queries.ts';
import type { GapEnd } from '../../../api/request-queries.ts';
import { Skeleton } from '../../../ui/feedback.tsx';

interface GapRowProps {
  readonly uid: string;
  readonly filter: RequestFilter;
  readonly gap: Gap;
  /** The end that is nearer to the visible rows. */
  readonly end: GapEnd;
  readonly line: number;
  readonly top: number;
  readonly height: number;
}

/** A gap of the list. Loads its requests when it becomes visible. */
export function GapRow({ uid, filter, gap, end, line, top, height }: GapRowProps) {
  const { isError, refetch } = useQuery(gapQuery(uid, filter, gap, end));
  return (
    <div
      role="row"
      aria-rowindex={line + 2}
      className="absolute top-0 left-0 flex w-full items-center gap-3 border-b border-line px-6 text-ink-2"
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {isError ? (
        <span role="gridcell">
          These requests could not be loaded.{' '}
          <button type="button" className="font-medium text-accent hover:underline" onClick={() => void refetch()}>
            Try again
          </button>
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
