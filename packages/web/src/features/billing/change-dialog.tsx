import { endpointTitle } from '@creel/contract';
import type { PlanChangePreview } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { failureOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Loading, Notice } from '../../ui/feedback.tsx';
import { counted } from '../../ui/format.ts';
import { confirmation, consequences, deletionHeading, exportAddress } from './subscription-labels.ts';
import type { ConfirmedAction } from './subscription-labels.ts';
import { planChangeQuery } from './subscription-queries.ts';
import type { PlanChoice } from './subscription-state.ts';

interface ChangeDialogProps {
  readonly action: ConfirmedAction;
  readonly choice: PlanChoice;
  /** The change takes a cancellation back. */
  readonly isRenewed: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  /** Milliseconds. */
  readonly now: number;
}

/** Confirms a plan change: what it costs, and which endpoints it deletes. */
export function ChangeDialog({ action, choice, isRenewed, onClose, onConfirm, now }: ChangeDialogProps) {
  const preview = useQuery(planChangeQuery(choice.tier, choice.interval));
  return (
    <ConfirmDialog
      onClose={onClose}
      {...confirmation(action, choice, { preview: preview.data, isRenewed }, now)}
      busy={preview.data === undefined}
      onConfirm={onConfirm}
    >
      {preview.data === undefined ? null : <Consequences preview={preview.data} now={now} />}
      {preview.isFetching && preview.data === undefined ? (
        <Loading label="Loading what changes" bars={['h-16']} className="mt-4" />
      ) : null}
      {preview.isError && !preview.isFetching ? (
        <Notice
          tone="bad"
          className="mt-4"
          {...failureOf(preview, 'The preview of this change could not be loaded.')}
        />
      ) : null}
    </ConfirmDialog>
  );
}

function Consequences({ preview, now }: { readonly preview: PlanChangePreview; readonly now: number }) {
  const sentences = consequences(preview, now);
  return (
    <>
      {preview.deletes.length === 0 ? null : <DeletionList preview={preview} now={now} />}
      {sentences.length === 0 ? null : (
        <ul className="mt-3 flex list-disc flex-col gap-1 pl-4 text-ink-2">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The endpoints that are deleted, by name, with the way to keep their requests. */
function DeletionList({ preview, now }: { readonly preview: PlanChangePreview; readonly now: number }) {
  const heading = deletionHeading(preview, now);
  return (
    <section aria-label={heading} className="mt-4 overflow-clip rounded-md border border-bad/40">
      <h3 className="bg-bad-soft px-3 py-2 font-medium text-bad">{heading}</h3>
      {/* The list scrolls, so it must be focusable. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul tabIndex={0} aria-label="Endpoints to be deleted" className="max-h-48 divide-y divide-line overflow-y-auto">
        {preview.deletes.map((endpoint) => (
          <li key={endpoint.uid} className="flex items-center gap-3 px-3 py-1.5">
            <span dir="auto" className="min-w-0 grow truncate text-left font-medium" title={endpointTitle(endpoint)}>
              {endpointTitle(endpoint)}
            </span>
            <span className="shrink-0 text-sm text-ink-2">{counted(endpoint.requestCount, 'request')}</span>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-3 py-2">
        <p className="text-sm text-ink-2">Keep a copy of their requests.</p>
        <Button asChild size="sm">
          <a href={exportAddress(preview.deletes.map(({ uid }) => uid))} download>
            <Download aria-hidden /> Export requests
          </a>
        </Button>
      </div>
    </section>
  );
}
