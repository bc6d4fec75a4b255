import type { Bulk } from '../bulk/use-bulk.ts';
import { COLUMNS } from './request-row.tsx';

export interface ListHeaderProps {
  /** Number of loaded rows. */
  readonly shown: number;
  readonly bulk: Pick<Bulk, 'marked' | 'markAll' | 'clear' | 'job'>;
}

/** The titles of the columns, and the checkbox that selects all requests that match. */
export function ListHeader({ shown, bulk }: ListHeaderProps) {
  const { marked, markAll, clear, job } = bulk;
  const isAll = marked.size > 0 && marked.size >= shown;
  // There is no attribute for this state.
  const setIndeterminate = (box: HTMLInputElement | null): void => {
    if (box !== null) box.indeterminate = marked.size > 0 && !isAll;
  };
  return (
    <div role="rowgroup" className="sticky top-0 z-10 bg-bg">
      <div role="row" aria-rowindex={1} className={`${COLUMNS} h-7 border-b border-line text-sm text-ink-2`}>
        <span role="columnheader">
          <input
            ref={setIndeterminate}
            type="checkbox"
            checked={isAll}
            // Disabled, it would lose the focus while the requests are read.
            aria-disabled={job !== undefined}
            aria-label={marked.size > 0 ? 'Clear the selection' : 'Select all that match'}
            title={marked.size > 0 ? 'Clear the selection' : 'Select all that match'}
            onChange={marked.size > 0 ? clear : markAll}
            className="ml-1.5 block size-3.5 accent-accent @md:ml-2 pointer-coarse:max-md:hidden"
          />
        </span>
        <span role="columnheader">Method</span>
        <span role="columnheader" className="hidden @md:block">
          Source
        </span>
        <span role="columnheader">Path</span>
        <span role="columnheader" className="text-right">
          Size
        </span>
        <span role="columnheader" className="text-right">
          Time
        </span>
        <span role="columnheader" className="hidden text-right @md:block">
          Actions
        </span>
      </div>
    </div>
  );
}
