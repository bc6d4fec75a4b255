import type { Endpoint } from '@creel/contract';
import { useState } from 'react';
import type { RequestFilter } from '../../../api/request-filter.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { toast, toastError } from '../../../ui/toast-store.ts';
import type { ListItems } from '../list-items.ts';
import { isSavedLimit, saveFailure, saveRequest } from '../request-mutations.ts';
import type { ExportFormat } from './export-files.ts';
import { exportRequests } from './export-requests.ts';
import { readMatching, readUnsaved } from './matching-requests.ts';
import { runEach } from './run-each.ts';
import { useJob } from './use-job.ts';
import type { BulkJob } from './use-job.ts';
import { useMarks } from './use-marks.ts';
import type { Marks } from './use-marks.ts';

/** The selection of requests, and what can be done with all of them. */
export interface Bulk extends Pick<Marks, 'marked' | 'requests' | 'mark' | 'clear'> {
  /** Selects all stored requests that match the filter, also those that are not loaded. */
  readonly markAll: () => void;
  readonly job: BulkJob | undefined;
  readonly save: () => void;
  /** Saves every unsaved request of the endpoint, also those that are not selected. */
  readonly saveAll: () => void;
  readonly exportAs: (format: ExportFormat) => void;
  /** The requests that are being replayed. They stay the same if the selection changes. */
  readonly replaying: readonly ListedRequest[] | undefined;
  readonly replay: () => void;
  readonly endReplay: () => void;
}

export function useBulk(uid: string, endpoint: Endpoint, items: ListItems, filter: RequestFilter): Bulk {
  const { marked, requests, mark, clear, setAll, setSaved } = useMarks(uid, items, filter);
  const [job, run] = useJob();
  const [replaying, setReplaying] = useState<readonly ListedRequest[]>();
  const saveThese = async (
    these: readonly ListedRequest[],
    options: { readonly signal: AbortSignal; readonly onProgress: (done: number) => void },
  ): Promise<void> => {
    const saved = new Set<number>();
    const { failed } = await runEach(
      these,
      async (request) => {
        await saveRequest(uid, request);
        saved.add(request.index);
      },
      { ...options, isFatal: isSavedLimit },
    );
    reportSaved(saved.size, failed, these.length);
    setSaved(saved);
  };
  return {
    marked,
    requests,
    mark,
    clear,
    job,
    replaying,
    replay: () => setReplaying(requests),
    endReplay: () => setReplaying(undefined),
    markAll: () => run('Selecting', undefined, async (options) => setAll(await readMatching(uid, filter, options))),
    save() {
      const unsaved = requests.filter((request) => !request.saved);
      if (unsaved.length > 0) run('Saving', unsaved.length, (options) => saveThese(unsaved, options));
    },
    saveAll: () =>
      run('Saving', undefined, async ({ setTotal, ...options }) => {
        const unsaved = await readUnsaved(uid, undefined, { ...options, onProgress: () => undefined });
        setTotal(unsaved.length);
        await saveThese(unsaved, options);
      }),
    exportAs: (format) =>
      run('Reading', requests.length, (options) => exportRequests(format, uid, endpoint.url, requests, options)),
  };
}

function reportSaved(count: number, failed: readonly { readonly error: unknown }[], all: number): void {
  const full = failed.find(({ error }) => isSavedLimit(error));
  if (full !== undefined)
    toastError(`${count} of ${all} requests were saved. ${saveFailure(full.error)}`, 'Save failed');
  else if (failed.length > 0) toastError(`${failed.length} of ${all} requests could not be saved.`, 'Save failed');
  else if (count === 1)
    toast({ title: 'Request saved', description: 'The webhook request has been saved successfully.' });
  else toast({ title: `${count} requests saved` });
}
