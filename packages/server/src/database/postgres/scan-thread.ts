import { workerData } from 'node:worker_threads';
import { QUERIES } from '../../queries.ts';
import { serveCalls } from '../../workers/worker-server.ts';
import { STORAGE_ERRORS } from '../store.ts';
import { withStorageErrors } from './faults.ts';
import { openDatabase, runRepeatable } from './session.ts';
import type { SessionKind } from './session.ts';

/** Start parameters. */
export interface ScanThreadData {
  readonly url: string;
  readonly sessions: SessionKind;
}

/**
 * Searches on PostgreSQL run in their own thread: matching a large body takes long, and the main thread must keep
 * accepting captures.
 */
const { url, sessions }: ScanThreadData = workerData;
const db = openDatabase(url, sessions);

const methods = {
  query: ({ name, args }: { readonly name: string; readonly args: readonly unknown[] }): Promise<unknown> =>
    withStorageErrors(runRepeatable(QUERIES, db, name, args)),
};

export type ScanMethods = typeof methods;

// Concurrent: the pool limits the number of running statements.
serveCalls({ methods, errors: STORAGE_ERRORS, close: () => db.destroy() });
