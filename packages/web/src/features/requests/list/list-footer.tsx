import type { EndpointDetail } from '@creel/contract';
import { clsx } from 'clsx';
import { Archive, CircleAlert } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import type { ReactNode } from 'react';
import { useLiveStatus } from '../../../api/live-feed.ts';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { Button } from '../../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../../ui/commands.ts';
import { counted, formatCount } from '../../../ui/format.ts';
import { MatchCount, SettledStatus, ProgressBar } from '../../../ui/progress.tsx';
import type { Bulk, BulkJob } from '../bulk/use-bulk.ts';
import { useLoginReason } from '../use-request-actions.ts';
import type { SearchState } from './use-list.ts';

interface ListFooterProps {
  readonly endpoint: EndpointDetail;
  readonly filter: RequestFilter;
  /** Set while the list is filtered by a query. */
  readonly search: SearchState | undefined;
  readonly bulk: Pick<Bulk, 'job' | 'saveAll'>;
}

/**
 * The footer of the list, with warnings above it. It shows how many captures are stored, or how many requests the filter
 * has found, or the running bulk action. It is below the list, so that it moves no row.
 */
export function ListFooter({ endpoint, filter, search, bulk }: ListFooterProps) {
  const { job, saveAll } = bulk;
  const loginReason = useLoginReason('save');
  const { invalidMessages } = useLiveStatus();
  const dropping = droppingWarning(endpoint);
  const canSave = dropping !== undefined && !isFull(endpoint);
  const warnings = [savedCapacityWarning(endpoint), invalidMessagesWarning(invalidMessages), dropping?.rule].filter(
    (warning) => warning !== undefined,
  );
  return (
    <section
      aria-label="Kept requests"
      // In a narrow window the end of the list can be below the visible part of the page.
      className={clsx('mt-auto shrink-0 border-t border-line bg-bg text-sm', job !== undefined && 'sticky bottom-0')}
    >
      {warnings.length === 0 ? null : (
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 bg-warn-soft py-1 pr-2 pl-3 text-warn">
          <CircleAlert aria-hidden className="size-3.5 shrink-0" />
          <p className="min-w-0 grow basis-52 text-pretty">
            {/* Without the count, which changes every second in a flood and would be announced each time. */}
            <span role="status">{warnings.join(' ')}</span> {dropping?.count}
          </p>
          {canSave ? (
            <Button size="sm" busy={job !== undefined} reason={loginReason} onClick={saveAll}>
              Save all
            </Button>
          ) : null}
          {canSave && endpoint.autosave === 'false' ? (
            <Button size="sm" onClick={() => runCommand(COMMAND_IDS.autosave)}>
              Turn on autosave
            </Button>
          ) : null}
        </div>
      )}
      <div className="flex min-h-7 items-center gap-x-3 px-3 text-ink-2">
        {job !== undefined ? (
          <Progress job={job} />
        ) : search === undefined ? (
          <Figures endpoint={endpoint} />
        ) : (
          <MatchCount
            // Another query announces its matches even if their number is the same.
            key={`${filter.method} ${filter.query}`}
            {...search}
            total={endpoint.requestCount}
            onRetry={() => void search.refetch()}
            className="truncate"
          />
        )}
      </div>
    </section>
  );
}

function Figures({ endpoint: { requestCount, retention } }: { readonly endpoint: EndpointDetail }) {
  const { captured, saved, dropped } = retention;
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-3">
      <Archive aria-hidden className="size-3.5 text-ink-3 max-sm:hidden" />
      <Figure
        name="captured"
        value={captured}
        title="Requests captured since the endpoint was created or last cleared"
      />
      <Figure name="stored" value={requestCount} title="Requests that you can open now, saved and unsaved" />
      <Figure name="saved" value={saved} title="Stored requests that stay until you delete them" />
      <Figure name="dropped" value={dropped} title="Unsaved requests that made room for newer ones" />
    </p>
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
      <span aria-hidden className="whitespace-nowrap">
        {text}
      </span>
      <SettledStatus text={text} />
      <ProgressBar label={label} value={done} max={total} className="min-w-8 grow" />
      <Button size="sm" variant="ghost" onClick={stop}>
        Stop
      </Button>
    </>
  );
}

/** Milliseconds between two announcements, so that a stream does not interrupt a screen reader all the time. */
const ANNOUNCE_MS = 4000;

/** Announces to screen readers how many requests have arrived. */
export function Arrivals() {
  const { received } = useLiveStatus();
  const countNow = useEffectEvent(() => received);
  const [text, setText] = useState('');
  useEffect(() => {
    let announced = countNow();
    const timer = setInterval(() => {
      const now = countNow();
      const count = now - announced;
      announced = now;
      setText(count > 0 ? counted(count, 'new request') : '');
    }, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p role="status" className="sr-only">
      {text}
    </p>
  );
}

type Kept = Pick<EndpointDetail, 'autosave' | 'requestCount' | 'retention'>;

/** The share of the maximum of unsaved requests from which the limit is mentioned. */
const NEARLY_FULL = 0.9;

/** `undefined` below the limit, and while autosave keeps every request. */
export function droppingWarning({ autosave, requestCount, retention }: Kept) {
  const { saved, maxUnsaved, dropped } = retention;
  const unsaved = requestCount - saved;
  const savesAll = autosave === 'true' && !isFull({ retention });
  if (savesAll || unsaved === 0 || (dropped === 0 && unsaved < maxUnsaved * NEARLY_FULL)) return undefined;
  return {
    /** That only the newest unsaved requests are kept. */
    rule: `The newest ${formatCount(maxUnsaved)} unsaved requests are kept.`,
    /** How many were dropped; empty for none. */
    count: dropped === 0 ? '' : `${formatCount(dropped)} older ${dropped === 1 ? 'one was' : 'ones were'} dropped.`,
  };
}

/** True if no further request can be saved. */
const isFull = ({ retention }: Pick<Kept, 'retention'>): boolean => retention.saved >= retention.maxSaved;

/** Why nothing can be saved, by hand or by autosave; `undefined` if something can. */
export function savedCapacityWarning(endpoint: Kept): string | undefined {
  if (!isFull(endpoint)) return undefined;
  const { autosave, retention } = endpoint;
  const full = `This endpoint holds ${formatCount(retention.saved)} saved requests, the most it can keep.`;
  return autosave === 'true'
    ? `${full} New requests are kept unsaved until you delete saved ones.`
    : `${full} Delete saved ones to save others.`;
}

/** How many live messages could not be shown; `undefined` if there were none. */
export function invalidMessagesWarning(invalidMessages: number): string | undefined {
  if (invalidMessages === 0) return undefined;
  const messages =
    invalidMessages === 1 ? 'One live message was' : `${formatCount(invalidMessages)} live messages were`;
  return `${messages} invalid and could not be shown. Reload the page to see everything.`;
}
