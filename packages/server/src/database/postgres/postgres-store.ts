import { sql } from 'kysely';
import { bindQueries } from '../bind-queries.ts';
import { migrate } from '../migrations/migrate.ts';
import { READS, SCANS, WRITES } from '../../queries.ts';
import { LazyThread, StorageThread } from '../storage-thread.ts';
import type { Store } from '../store.ts';
import { CaptureConnection } from './capture-connection.ts';
import { postgresEngine } from './engine.ts';
import { answered, codeOf } from './faults.ts';
import { openDatabase, runQuery, runRead } from './run-query.ts';
import { SESSIONS } from './session.ts';
import type { SessionKind } from './session.ts';
import { startProblem } from './start-problem.ts';

export type SessionKinds = Readonly<Record<keyof typeof SESSIONS, SessionKind>>;

/**
 * The store on PostgreSQL, which several servers may share: one connection for captures, pools for reads and other
 * writes, and a thread with a pool for searches. @throws StorageProblem when the server can't be reached, is not
 * durable, or was written by a newer version.
 */
export async function openPostgresStore(url: string, kinds: SessionKinds = SESSIONS): Promise<Store> {
  const captures = new CaptureConnection(url, kinds.capture);
  const drain = new CaptureConnection(url, kinds.drain);
  try {
    await captures.check();
    await bringUpToDate(url, kinds.migration);
  } catch (error) {
    await captures.close();
    throw startProblem(error, url);
  }
  const readers = openDatabase(url, kinds.read);
  const scanner = new LazyThread(() => StorageThread.start({ role: 'scanner', url, sessions: kinds.scan }));
  const writers = openDatabase(url, kinds.write);
  const writes = bindQueries(WRITES, (name, args) => answered(runQuery(writers, name, args)));
  return {
    ...bindQueries(READS, (name, args) => answered(runRead(readers, name, args))),
    ...bindQueries(SCANS, async (name, args) => (await scanner.get()).query(name, args)),
    ...writes,
    async checkWritable(now) {
      await captures.check();
      await writes.checkWritable(now);
    },
    writeCaptures: (batch, limits, withinMs) => captures.writeCaptures(batch, limits, withinMs),
    drain,
    async deleteOldBatches() {
      await answered(
        sql`delete from capture_batches where written_at < clock_timestamp() - interval '10 minutes'`.execute(writers),
      );
    },
    shared: true,
    async close() {
      await Promise.all([captures.close(), drain.close(), readers.destroy(), scanner.close(), writers.destroy()]);
    },
  };
}

/** Waits for a busy table briefly but often; see `lockForMigration`. */
const MIGRATION_TRIES = 20;
const LOCK_NOT_AVAILABLE = '55P03';

async function bringUpToDate(url: string, kind: SessionKind): Promise<void> {
  const db = openDatabase(url, kind);
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await migrate(db, postgresEngine);
      } catch (error) {
        if (codeOf(error) !== LOCK_NOT_AVAILABLE || tries === MIGRATION_TRIES) throw error;
      }
    }
  } finally {
    await db.destroy();
  }
}
