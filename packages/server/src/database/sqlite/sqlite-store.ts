import { READS, SCANS, WRITES } from '../../queries.ts';
import type { Store } from '../store.ts';
import { bindQueries } from '../bind-queries.ts';
import { LazyThread, StorageThread } from '../storage-thread.ts';

/**
 * The SQLite store: a file in `dataDir` and threads that write, read and scan, so that lists and searches never block a
 * capture. @throws StorageProblem when the folder or the file can't be used.
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
      // Closed last, so that it checkpoints the log into the file.
      await writer.close();
    },
  };
}

/** Starts both in parallel, because most of a thread's start is loading code. If one fails, the other is closed. */
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
