import type { Endpoint } from '@creel/contract';
import { useState } from 'react';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { isDropped, positionOf, rowOf } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readList } from '../../../api/request-lists.ts';
import { toast } from '../../../ui/toast-store.ts';
import type { ListItems } from '../list-items.ts';
import { isSavedLimit, saveFailure, saveRequest } from '../request-mutations.ts';
import type { ExportFormat } from './export-files.ts';
import { exportRequests } from './export-requests.ts';
import { readMatching, readUnsaved } from './matching-requests.ts';
import { runEach } from './run-each.ts';

/** A bulk action that is running. */
export interface BulkJob {
  /** 'Saving' */
  readonly label: string;
  readonly done: number;
  /** `undefined` while the number is not known. */
  readonly total: number | undefined;
  readonly stop: () => void;
}

/** The selection of requests for bulk actions, and the actions. */
export interface Bulk {
  readonly marked: ReadonlySet<number>;
  /** Newest first. */
  readonly requests: readonly ListedRequest[];
  readonly mark: (request: ListedRequest, range: boolean) => void;
  /** Selects all stored requests that match the filter, also those that are not loaded. */
  readonly markAll: () => void;
  readonly clear: () => void;
  readonly job: BulkJob | undefined;
  readonly save: () => void;
  /** Saves every unsaved request of the endpoint, also those that are not selected. */
  readonly saveAll: () => void;
  readonly exportAs: (format: ExportFormat) => void;
}

interface Marks {
  /** The filter under which they were selected. */
  readonly filter: string;
  readonly rows: ReadonlyMap<number, ListedRequest>;
}

const NO_MARKS: Marks = { filter: '', rows: new Map() };

/** A change of the filter clears the selection, so that no action affects requests that are not shown. */
export function useBulk(uid: string, endpoint: Endpoint, items: ListItems, filter: RequestFilter): Bulk {
  const [marks, setMarks] = useState(NO_MARKS);
  const [last, setLast] = useState<number>();
  const [job, run] = useJob();
  const filterKey = `${filter.method ?? ''} ${filter.query ?? ''}`;
  const rows = marks.filter === filterKey ? marks.rows : NO_MARKS.rows;
  const setRows = (wanted: ReadonlyMap<number, ListedRequest>): void => setMarks({ filter: filterKey, rows: wanted });
  const requests = stillStored(uid, rows);

  const saveThese = async (
    these: readonly ListedRequest[],
    signal: AbortSignal,
    onProgress: (done: number) => void,
  ) => {
    const { done, failed } = await runEach(these, (request) => saveRequest(uid, request), {
      signal,
      onProgress,
      isFatal: isSavedLimit,
    });
    reportSaved(done - failed.length, failed, these.length);
    // Their ids have changed. The list has the new ones of those that are loaded.
    setMarks((now) => ({
      ...now,
      rows: withSaved(
        now.rows,
        these,
        failed.map(({ item }) => item),
      ),
    }));
  };
  return {
    marked: new Set(requests.map((request) => request.index)),
    requests,
    mark(request, range) {
      setRows(
        range && last !== undefined
          ? new Map([...rows, ...between(items, last, request.index)])
          : toggled(rows, request),
      );
      setLast(request.index);
    },
    markAll() {
      run('Selecting', undefined, async (signal, onProgress) => {
        const all = await readMatching(uid, filter, { signal, onProgress });
        setRows(new Map(all.map((row) => [row.index, row])));
      });
    },
    clear: () => setMarks(NO_MARKS),
    job,
    save() {
      const unsaved = requests.filter((request) => !request.saved);
      run('Saving', unsaved.length, (signal, onProgress) => saveThese(unsaved, signal, onProgress));
    },
    saveAll() {
      run('Saving', undefined, async (signal, onProgress, setTotal) => {
        const unsaved = await readUnsaved(uid, undefined, { signal, onProgress: () => undefined });
        setTotal(unsaved.length);
        await saveThese(unsaved, signal, onProgress);
      });
    },
    exportAs(format) {
      run('Reading', requests.length, (signal, onProgress) =>
        exportRequests(format, uid, endpoint.url, requests, { signal, onProgress }),
      );
    },
  };
}

type Work = (
  signal: AbortSignal,
  onProgress: (done: number) => void,
  setTotal: (total: number) => void,
) => Promise<void>;

/** One bulk action at a time, with progress. */
function useJob(): readonly [BulkJob | undefined, (label: string, total: number | undefined, work: Work) => void] {
  const [job, setJob] = useState<BulkJob>();
  const run = (label: string, total: number | undefined, work: Work): void => {
    if (job !== undefined) return;
    const controller = new AbortController();
    const change = (part: Partial<BulkJob>): void => setJob((now) => now && { ...now, ...part });
    setJob({ label, done: 0, total, stop: () => controller.abort() });
    work(
      controller.signal,
      (done) => change({ done }),
      (all) => change({ total: all }),
    )
      .catch(() => {
        if (controller.signal.aborted) return;
        toast({
          title: 'Error',
          description: 'Some of these requests could not be read. Please try again.',
          variant: 'destructive',
        });
      })
      .finally(() => setJob(undefined));
  };
  return [job, run];
}

/** The selected requests that still exist, in their newest version. */
function stillStored(uid: string, rows: ReadonlyMap<number, ListedRequest>): ListedRequest[] {
  if (rows.size === 0) return [];
  const list = readList(uid);
  return [...rows.values()]
    .map((row) => rowOf(list, row.index) ?? row)
    .filter((row) => row.index > list.clearedTo && !list.deleted.has(row.index) && !isDropped(list, row))
    .toSorted((a, b) => b.index - a.index);
}

function toggled(rows: ReadonlyMap<number, ListedRequest>, request: ListedRequest): Map<number, ListedRequest> {
  const next = new Map(rows);
  if (!next.delete(request.index)) next.set(request.index, request);
  return next;
}

/** The visible requests from one to another. */
function between(items: ListItems, from: number, to: number): [number, ListedRequest][] {
  const start = positionOf(items.rows, Math.max(from, to));
  const end = positionOf(items.rows, Math.min(from, to));
  return items.rows.slice(start, end + 1).map((row) => [row.index, row]);
}

function withSaved(
  rows: ReadonlyMap<number, ListedRequest>,
  saved: readonly ListedRequest[],
  failed: readonly ListedRequest[],
): ReadonlyMap<number, ListedRequest> {
  const next = new Map(rows);
  const unsaved = new Set(failed.map((request) => request.index));
  for (const request of saved) {
    const row = next.get(request.index);
    if (row !== undefined && !unsaved.has(request.index)) next.set(request.index, { ...row, saved: true });
  }
  return next;
}

function reportSaved(count: number, failed: readonly { readonly error: unknown }[], all: number): void {
  const full = failed.find(({ error }) => isSavedLimit(error));
  if (full !== undefined)
    toast({
      title: 'Save failed',
      description: `${count} of ${all} requests were saved. ${saveFailure(full.error)}`,
      variant: 'destructive',
    });
  else if (failed.length > 0)
    toast({
      title: 'Save failed',
      description: `${failed.length} of ${all} requests could not be saved.`,
      variant: 'destructive',
    });
  else if (count === 1)
    toast({ title: 'Request saved', description: 'The webhook request has been saved successfully.' });
  else toast({ title: `${count} requests saved` });
}
