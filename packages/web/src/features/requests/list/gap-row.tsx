import { useQuery } from '@tanstack/react-query';
import type { Gap } from '../../../api/request-list.ts';
import { gapQuery } from '../../../api/request-queries.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';

export interface GapRowProps {
  readonly uid: string;
  readonly method: string | undefined;
  readonly gap: Gap;
  readonly line: number;
  readonly top: number;
  readonly height: number;
}

/** A gap of the list. Loads its requests when it becomes visible. */
export function GapRow({ uid, method, gap, line, top, height }: GapRowProps) {
  const { isError, refetch } = useQuery(gapQuery(uid, method, gap));
  return (
    <div
      role="row"
      aria-rowindex={line + 2}
      className="absolute top-0 left-0 flex w-full items-center gap-3 border-b border-line px-6 text-ink-2"
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {isError ? (
        <span role="gridcell">
          Older requests could not be loaded.{' '}
          <button type="button" className="font-medium text-accent hover:underline" onClick={() => void refetch()}>
            Try again
          </button>
        </span>
      ) : (
        <>
          <span role="gridcell" className="sr-only">
            Loading older requests
          </span>
          <Skeleton className="h-3 w-10" />
          <Skeleton className="h-3 w-14" />
          <Skeleton className="h-3 grow" />
        </>
      )}
    </div>
  );
}
