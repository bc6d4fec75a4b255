import type { EndpointDetail } from '@creel/contract';
import { Archive, CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { ProgressBar } from '../../../ui/progress-bar.tsx';
import { formatCount } from '../../../ui/sizes.ts';
import type { BulkJob } from '../bulk/use-job.ts';
import { droppingLabel } from './dropping-label.ts';

export interface ListFootProps {
  readonly endpoint: EndpointDetail;
  readonly job: BulkJob | undefined;
  readonly canSave: boolean;
  readonly onSaveAll: () => void;
  readonly onAutosave: () => void;
}

/**
 * What happened to the captures of the endpoint, whether old ones are being dropped, and the running bulk action. Below
 * the list, so that it moves no row.
 */
export function ListFoot({ endpoint, job, canSave, onSaveAll, onAutosave }: ListFootProps) {
  const { captured, total, saved, dropped } = endpoint.stats;
  const dropping = droppingLabel(endpoint);
  return (
    <section aria-label="Kept requests" className="shrink-0 border-t border-line text-sm">
      {dropping === undefined ? null : (
        <div
          role="status"
          className="flex flex-wrap items-center gap-x-2 gap-y-1 bg-warn-soft py-1 pr-2 pl-3 text-warn"
        >
          <CircleAlert aria-hidden className="size-3.5 shrink-0" />
          <p className="min-w-0 grow basis-52 text-pretty">{dropping}</p>
          <Button size="sm" disabled={!canSave} busy={job !== undefined} onClick={onSaveAll}>
            Save all
          </Button>
          {endpoint.autosave === 'true' ? null : (
            <Button size="sm" disabled={!canSave} onClick={onAutosave}>
              Turn on autosave
            </Button>
          )}
        </div>
      )}
      <div className="flex min-h-7 items-center gap-x-3 px-3 text-ink-2">
        {job === undefined ? (
          <p className="flex min-w-0 flex-wrap items-center gap-x-3">
            <Archive aria-hidden className="size-3.5 text-ink-3 max-sm:hidden" />
            <Figure name="captured" value={captured} title="Requests received since the creation or the last clear" />
            <Figure name="stored" value={total} title="Requests that you can open now, saved and unsaved" />
            <Figure name="saved" value={saved} title="Stored requests that stay until you delete them" />
            <Figure name="dropped" value={dropped} title="Unsaved requests that made room for newer ones" />
          </p>
        ) : (
          <Progress job={job} />
        )}
      </div>
    </section>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly title: string;
}

function Figure({ name, value, title }: FigureProps): ReactNode {
  return (
    <span title={title}>
      <span className="font-mono text-ink">{formatCount(value)}</span> {name}
    </span>
  );
}

function Progress({ job: { label, done, total, stop } }: { readonly job: BulkJob }) {
  const text =
    total === undefined ? `${label}… ${formatCount(done)}` : `${label} ${formatCount(done)} of ${formatCount(total)}`;
  return (
    <>
      <span role="status" className="whitespace-nowrap">
        {text}
      </span>
      <ProgressBar label={label} value={done} max={total} className="min-w-8 grow" />
      <Button size="sm" variant="ghost" onClick={stop}>
        Stop
      </Button>
    </>
  );
}
