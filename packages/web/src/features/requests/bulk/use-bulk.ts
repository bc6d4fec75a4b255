import type { Endpoint } from '@creel/contract';
import { useEffect, useState } from 'react';
import { errorMessage, toastFailure } from '../../../api/client.ts';
import { acceptsOf, readsSaves } from '../../../api/request-filter.ts';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { isDropped, rowOf } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { onRequestChange, readList } from '../../../api/list-cache.ts';
import type { RequestChange } from '../../../api/list-cache.ts';
import { counted, formatCount } from '../../../ui/format.ts';
import { toast, toastError } from '../../../ui/toast-store.ts';
import { exportRequests } from '../export.ts';
import { between } from '../list-items.ts';
import type { ListItems } from '../list-items.ts';
import { useDeletions } from '../delete-requests.ts';
import { endsSaving, REQUEST_SAVED, saveRequests } from '../request-mutations.ts';
import type { ExportFormat } from './export-files.ts';
import { readMatching, readUnsaved } from './matching-requests.ts';

export type Bulk = ReturnType<typeof useBulk>;

/**
 * The *marked* requests, whose boxes are checked, and what can be done with all of them. The *selected* one is another:
 * its details are open (`use-selection.ts`).
 */
export function useBulk({ uid, url }: Endpoint, items: ListItems, filter: RequestFilter) {
  const { marked, requests, last, toggle, add, clear, setAll } = useMarks(uid, filter);
  const [job, run] = useJob();
  const { hiddenCount, deletion } = useDeletions(uid);
  const [replaying, setReplaying] = useState<readonly ListedRequest[]>();
  const saveChosen = async (
    chosen: readonly ListedRequest[],
    options: { readonly signal: AbortSignal; readonly onProgress: (done: number) => void },
  ): Promise<void> => {
    const { saved, failed } = await saveRequests(uid, chosen, options);
    reportSaved(saved.size, failed, chosen.length);
  };
  return {
    marked,
    requests,
    /** Marks or unmarks a request. With `isRange`, marks all from the last one to it, including those that are not loaded. */
    mark(request: ListedRequest, isRange: boolean): void {
      if (!isRange || last === undefined) toggle(request);
      else if (!items.hasGap(last, request.index)) add(between(items, last, request.index), request);
      else
        run('Selecting', undefined, async (options) => {
          const rows = await readMatching(uid, filter, options);
          add(between({ rows }, last, request.index), request);
        });
    },
    clear,
    job: job ?? deletion,
    hiddenCount,
    /** The requests that are being replayed. They stay the same if the marks change. */
    replaying,
    replay: () => setReplaying(requests),
    endReplay: () => setReplaying(undefined),
    /** Marks all stored requests that match the filter, including those that are not loaded. */
    markAll: () => run('Selecting', undefined, async (options) => setAll(await readMatching(uid, filter, options))),
    save(): void {
      const unsaved = requests.filter((request) => !request.saved);
      if (unsaved.length > 0) run('Saving', unsaved.length, (options) => saveChosen(unsaved, options));
    },
    /** Saves every unsaved request of the endpoint, including those that are not marked. */
    saveAll: () =>
      run('Saving', undefined, async ({ setTotal, ...options }) => {
        const unsaved = await readUnsaved(uid, options.signal);
        setTotal(unsaved.length);
        await saveChosen(unsaved, options);
      }),
    exportAs: (format: ExportFormat) =>
      run('Exporting', requests.length, (options) => exportRequests(format, uid, url, requests, options)),
  };
}

function reportSaved(count: number, failed: readonly { readonly error: unknown }[], all: number): void {
  const end = failed.find(({ error }) => endsSaving(error));
  const [first] = failed;
  if (end !== undefined)
    // Also at the end of the session, because the login dialog does not say how many were saved.
    toastError(
      `${formatCount(count)} of ${counted(all, 'request')} saved. ${errorMessage(end.error, 'Please try again.')}`,
      { title: 'Save failed' },
    );
  else if (first !== undefined)
    toastError(`${formatCount(failed.length)} of ${formatCount(all)} requests could not be saved.`, {
      title: 'Save failed',
    });
  else if (count === 1) toast(REQUEST_SAVED);
  else toast({ title: `${formatCount(count)} requests saved` });
}

/** A bulk action that is running. */
export interface BulkJob {
  readonly label: string;
  readonly done: number;
  /** `undefined` while the number is not known. */
  readonly total: number | undefined;
  readonly stop: () => void;
}

type Work = (options: {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number) => void;
  readonly setTotal: (total: number) => void;
}) => Promise<void>;

/** Milliseconds between two renderings of the progress. Each renders the list with all marked requests. */
const PROGRESS_MS = 100;

/** One bulk action at a time, with progress. */
function useJob() {
  const [job, setJob] = useState<BulkJob>();
  const run = (label: string, total: number | undefined, work: Work): void => {
    if (job !== undefined) return;
    const controller = new AbortController();
    const change = (part: Partial<BulkJob>): void => setJob((now) => now && { ...now, ...part });
    setJob({ label, done: 0, total, stop: () => controller.abort() });
    let shownAt = 0;
    work({
      signal: controller.signal,
      onProgress(done) {
        if (performance.now() - shownAt < PROGRESS_MS) return;
        shownAt = performance.now();
        change({ done });
      },
      setTotal: (all) => change({ total: all }),
    })
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        toastFailure(error, 'Some of these requests could not be read. Please try again.');
      })
      .finally(() => setJob(undefined));
  };
  return [job, run] as const;
}

interface MarksState {
  /** The filter under which they were marked. */
  readonly filter: string;
  readonly rows: Marks;
}

const NONE: MarksState = { filter: '', rows: new Map() };

/**
 * The requests that are marked for bulk actions. A change of the filter clears the marks, so that no action affects
 * requests that are not shown.
 */
function useMarks(uid: string, { method, query }: RequestFilter) {
  const [state, setState] = useState(NONE);
  const [last, setLast] = useState<number>();
  const filter = `${method ?? ''} ${query ?? ''}`;
  const rows = state.filter === filter ? state.rows : NONE.rows;
  const requests = stillStored(uid, rows);
  useEffect(() => {
    const accepts = acceptsOf({ method, query });
    const keeps: Keeps = readsSaves({ query }) ? (row) => accepts(row) === true : () => true;
    return onRequestChange((change) => {
      if (change.uid !== uid) return;
      setState((now) => {
        const after = marksAfter(now.rows, change, keeps);
        return after === now.rows ? now : { ...now, rows: after };
      });
    });
  }, [uid, method, query]);
  return {
    marked: new Set(requests.map((request) => request.index)),
    /** Those that are still stored, newest first. */
    requests,
    /** The index that was marked last. */
    last,
    toggle(request: ListedRequest): void {
      setState({ filter, rows: toggled(rows, request) });
      setLast(request.index);
    },
    /** Marks more requests. `end` is the one that the user has chosen. */
    add(more: readonly ListedRequest[], end: ListedRequest): void {
      setState({ filter, rows: new Map([...rows, ...more.map((row) => [row.index, row] as const)]) });
      setLast(end.index);
    },
    setAll: (all: readonly ListedRequest[]) => setState({ filter, rows: new Map(all.map((row) => [row.index, row])) }),
    clear: () => setState(NONE),
  };
}

type Marks = ReadonlyMap<number, ListedRequest>;

/** Whether a saved request stays marked. */
type Keeps = (row: ListedRequest) => boolean;

/** The marks after a change: without deleted requests, and with the new ids of saved ones that stay marked. */
export function marksAfter(marks: Marks, { saved, deleted }: Omit<RequestChange, 'uid'>, keeps: Keeps): Marks {
  const ids = new Map(saved.map(({ index, id }) => [index, id]));
  const next = new Map<number, ListedRequest>();
  let isChanged = false;
  for (const [index, row] of marks) {
    const id = ids.get(index);
    const after = id === undefined ? row : { ...row, id, saved: true };
    isChanged ||= after !== row || deleted.has(row.id);
    if (!deleted.has(row.id) && (after === row || keeps(after))) next.set(index, after);
  }
  return isChanged ? next : marks;
}

/** The marked requests that still exist, in their newest version. */
function stillStored(uid: string, rows: Marks): ListedRequest[] {
  if (rows.size === 0) return [];
  const list = readList(uid);
  return [...rows.values()]
    .map((row) => rowOf(list, row.index) ?? row)
    .filter((row) => row.index > list.clearedTo && !list.deleted.has(row.index) && !isDropped(list, row))
    .toSorted((a, b) => b.index - a.index);
}

function toggled(rows: Marks, request: ListedRequest): Map<number, ListedRequest> {
  const next = new Map(rows);
  if (!next.delete(request.index)) next.set(request.index, request);
  return next;
}
