import { READS, SCANS, WRITES } from '../../queries.ts';
import type { Store } from '../store.ts';
import { bindQueries } from '../bind-queries.ts';
import { LazyThread, StorageThread } from '../storage-thread.ts';

/**
 * The embedded store: a file in `dataDir`, a thread that writes, one that reads and one that scans, so that neither a list nor a
 * search ever holds up a capture.
 * @throws StorageProblem when the folder or the file can't be used.
 */
export async function openSqliteStore(dataDir: string): Promise<Store> {
  const { writer, reader } = await startThreads(dataDir);
  const scanner = new LazyThread(() => StorageThread.start({ role: 'reader', dataDir }));
  return {
    ...bindQueries(READS, (name, args) => reader.query(name, args)),
    ...bindQueries(SCANS, async (name, args) => (await scanner.get()).query(name, args)),
    ...bindQueries(WRITES, (name, args) => writer.query(name, args)),
    writeCaptures: (batch, limits) => writer.writeCaptures(batch, limits),
    watchDisk: (onState) => writer.watchDisk(onState),
    shared: false,
    async close() {
      await Promise.all([reader.close(), scanner.close()]);
      // Last, so that closing it folds the log back into the file.
      await writer.close();
    },
  };
}

/** Both at once, since most of a thread's start is loading its code; when one does not start, none is left behind. */
async function startThreads(dataDir: string): Promise<{ writer: StorageThread; reader: StorageThread }> {
  const starts = [
    StorageThread.start({ role: 'writer', dataDir }),
    StorageThread.start({ role: 'reader', dataDir }),
  ] as const;
  try {
    const [writer, reader] = await Promise.all(starts);
    return { writer, reader };
  } catch (error) {
    for (const start of await Promise.allSettled(starts)) if (start.status === 'fulfilled') await start.value.close();
    throw error;
  }
}
