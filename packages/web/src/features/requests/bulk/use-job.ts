import { useState } from 'react';
import { toastError } from '../../../ui/toast-store.ts';

/** A bulk action that is running. */
export interface BulkJob {
  /** 'Saving' */
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

/** One bulk action at a time, with progress. */
export function useJob(): readonly [
  BulkJob | undefined,
  (label: string, total: number | undefined, work: Work) => void,
] {
  const [job, setJob] = useState<BulkJob>();
  const run = (label: string, total: number | undefined, work: Work): void => {
    if (job !== undefined) return;
    const controller = new AbortController();
    const change = (part: Partial<BulkJob>): void => setJob((now) => now && { ...now, ...part });
    setJob({ label, done: 0, total, stop: () => controller.abort() });
    work({
      signal: controller.signal,
      onProgress: (done) => change({ done }),
      setTotal: (all) => change({ total: all }),
    })
      .catch(() => {
        if (controller.signal.aborted) return;
        toastError('Some of these requests could not be read. Please try again.');
      })
      .finally(() => setJob(undefined));
  };
  return [job, run];
}
