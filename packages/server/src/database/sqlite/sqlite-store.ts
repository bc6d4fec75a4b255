import type { PackedCaptures } from '../packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, DiskState, Store, StorageFailure } from '../store.ts';
import { bindQueries } from '../remote.ts';
import type { QueryTable, Remote } from '../remote.ts';
import { STORAGE_ERRORS, STORAGE_THREAD_LIMITS } from '../store.ts';
import { LazyWorker, WorkerClient } from '../../workers/worker-client.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { createTrimmer } from '../write-captures.ts';
import { workerFile } from '../../workers/worker-file.ts';
import type { SqliteMethods, SqliteThreadData } from './thread.ts';

function threadOptions(data: SqliteThreadData) {
  return {
    file: workerFile(import.meta.url, './thread.ts', './storage-thread.js'),
    name: `storage-${data.role}`,
    resourceLimits: STORAGE_THREAD_LIMITS,
    errors: STORAGE_ERRORS,
    data,
  };
}

/** Writes of queries that the thread has at a time. A batch of captures waits for these, not for all that were called. */
const MAX_WRITES = 4;
/** Time until commits that did not wait for the disk are synced. A power cut undoes at most these. */
const SYNC_AFTER_MS = 1000;

/** Syncs the log a while after a commit that did not wait for the disk, unless a later commit has synced it. */
function deferredSync(sync: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const plan = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      // If the disk fails, nothing is committed, and the next commit plans another sync.
      sync().catch(() => undefined);
    }, SYNC_AFTER_MS).unref();
  };
  return { plan, cancel };
}

/**
 * The store on SQLite: a file in `dataDir`, and threads that write, read and scan. So lists and searches never block a
 * capture. The threads find the queries in the registry. @throws StorageProblem when the folder or the file can't be
 * used.
 */
export async function openSqliteStore<Queries extends QueryTable>(
  dataDir: string,
  queries: Queries,
): Promise<Store & Remote<Queries>> {
  const writer = await WorkerClient.start<SqliteMethods, StorageFailure, DiskState>(
    threadOptions({ role: 'writer', dataDir }),
  );
  const reader = new LazyWorker<SqliteMethods, StorageFailure>(threadOptions({ role: 'reader', dataDir }));
  const scanner = new LazyWorker<SqliteMethods, StorageFailure>(threadOptions({ role: 'scanner', dataDir }));
  reader.start();
  const writes = new FairQueue({ concurrency: MAX_WRITES });
  // One owner, so that writes start in the order of their calls.
  const runWrite = <T>(work: () => Promise<T>): Promise<T> => writes.run('queries', work);
  const deferred = deferredSync(() => writer.call('checkWritable', 'other'));
  const writeCaptures = async (batch: PackedCaptures, limits: CaptureLimits): Promise<CaptureOutcome> => {
    const transfer = [batch.numbers.buffer, batch.bytes.buffer];
    const outcome = await writer.call('writeCaptures', { batch, limits }, { transfer });
    // A commit of captures syncs all earlier ones.
    deferred.cancel();
    trimAfter(outcome, limits);
    return outcome;
  };
  const trimAfter = createTrimmer(writeCaptures);
  const store: Store = {
    writeCaptures,
    checkpoint: () => writer.call('checkpoint', undefined),
    checkWritable: () => writer.call('checkWritable', 'capture'),
    watchDisk: (onState) => writer.watch(onState),
    shared: false,
    async close() {
      deferred.cancel();
      await Promise.all([reader.close(), scanner.close()]);
      // When its turn comes, the thread has all other writes.
      await runWrite(async () => undefined);
      // Closed last, so that it checkpoints the log into the file.
      await writer.close();
    },
  };
  const remote = bindQueries(queries, async (kind, name, args) => {
    if (kind === 'read') return reader.call('query', { name, args });
    if (kind === 'scan') return scanner.call('query', { name, args });
    const answer = await runWrite(() => writer.call('query', { name, args }));
    if (kind === 'unsynced') deferred.plan();
    return answer;
  });
  return { ...store, ...remote };
}
