import { READS, SCANS, WRITES } from '../queries/catalogue.ts';
import type { Store } from '../store.ts';
import { bindQueries } from '../bind-queries.ts';
import { LogSyncer } from './log-syncer.ts';
import { logFile } from './open-database.ts';
import { StorageThread } from './thread-client.ts';

/**
 * The embedded store: a file in `dataDir`, a thread that writes, one that reads and one that scans, so that neither a list nor a
 * search ever holds up a capture.
 * @throws StorageProblem when the folder or the file can't be used.
 */
export async function openSqliteStore(dataDir: string): Promise<Store> {
  const writer = await StorageThread.start({ role: 'writer', dataDir });
  const reader = await StorageThread.start({ role: 'reader', dataDir });
  const scanner = await StorageThread.start({ role: 'reader', dataDir });
  const log = new LogSyncer(logFile(dataDir));
  /** A write is done when it is on disk, not when it is committed. */
  const synced = async <T>(write: Promise<T>): Promise<T> => {
    const result = await write;
    await log.sync();
    return result;
  };
  return {
    ...bindQueries(READS, (name, args) => reader.query(name, args)),
    ...bindQueries(SCANS, (name, args) => scanner.query(name, args)),
    ...bindQueries(WRITES, (name, args) => synced(writer.query(name, args))),
    writeCaptures: (batch, limits) => synced(writer.writeCaptures(batch, limits)),
    shared: false,
    async close() {
      await Promise.all([reader.close(), scanner.close()]);
      // Last, so that closing it folds the log back into the file.
      await writer.close();
      log.close();
    },
  };
}
