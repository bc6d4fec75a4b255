import { Skeleton, SkeletonRows } from '../../ui/feedback.tsx';

const CARDS = [0, 1, 2, 3];

/** A skeleton with the layout of the page. */
export function EndpointLoading() {
  return (
    <div role="status" className="h-full overflow-hidden">
      <div className="flex flex-col gap-1 px-5 pt-1.5 max-md:px-4">
        <div className="flex h-7 items-center gap-3">
          <Skeleton className="h-5 w-36" />
          <p className="text-ink-2">Loading endpoint...</p>
        </div>
        <div className="flex h-8 items-center rounded-md border border-line bg-panel px-3">
          <Skeleton className="h-3 w-80 max-w-full" />
        </div>
        <div className="flex h-4 items-center">
          <Skeleton className="h-3 w-2/3" />
        </div>
        <div className="-mx-5 grid h-6 grid-cols-4 items-center border-t border-line max-md:hidden">
          {CARDS.map((card) => (
            <Skeleton key={card} className="mx-5 h-3 w-24" />
          ))}
        </div>
      </div>
      <div className="border-t border-line">
        <SkeletonRows />
      </div>
    </div>
  );
}
