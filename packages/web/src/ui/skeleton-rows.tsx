import { Skeleton } from './skeleton.tsx';

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];

/** Placeholder of a list of requests. */
export function SkeletonRows() {
  return ROWS.map((row) => (
    <div key={row} className="flex h-9 items-center gap-4 border-b border-line px-6">
      <Skeleton className="h-3 w-10" />
      <Skeleton className="h-3 w-14" />
      <Skeleton className="h-3 grow" />
      <Skeleton className="h-3 w-12" />
    </div>
  ));
}
