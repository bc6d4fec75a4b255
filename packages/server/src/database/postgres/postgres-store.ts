import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { bindQueries } from '../remote.ts';
import type { QueryTable, Remote } from '../remote.ts';
import { MIGRATIONS, migrate } from '../migrations/migrate.ts';
import type { Migration } from '../migrations/migration.ts';
import { STORAGE_ERRORS, STORAGE_THREAD_LIMITS } from '../store.ts';
import type { StorageFailure, Store } from '../store.ts';
import { LazyWorker } from '../../workers/worker-client.ts';
import { workerFile } from '../../workers/worker-file.ts';
import type { ScanMethods, ScanThreadData } from './scan-thread.ts';
import { CaptureConnection } from './capture-connection.ts';
import { codeOf } from '../../error-code.ts';
import { withStorageErrors, faultOf, startProblem } from './faults.ts';
import { assertDedicatedSession, openDatabase, runRepeatable, SESSIONS } from './session.ts';
import type { SessionKind } from './session.ts';

export type SessionKinds = Readonly<Record<keyof typeof SESSIONS, SessionKind>>;

/**
 * The store on PostgreSQL, which several servers may share. It has one connection for captures, pools for reads and
 * other writes, and a thread with a pool for searches. @throws StorageProblem when the server can't be reached, is not
 * durable, or was written by a newer version. Calls `onTablesInUse` if an update of the schema waits for other sessions.
 */
export async function openPostgresStore<Queries extends QueryTable>(
  url: string,
  queries: Queries,
  kinds: SessionKinds = SESSIONS,
  onTablesInUse?: () => void,
): Promise<Store & Remote<Queries>> {
  const captures = new CaptureConnection(url, kinds.capture);
  const drain = new CaptureConnection(url, kinds.drain);
  await prepareServer(captures, url, kinds.migration, onTablesInUse);
  const readers = openDatabase(url, kinds.read);
  // A node that listens gets its share of requests at once. On a busy machine, connecting takes longer than captures wait.
  await Promise.allSettled(Array.from({ length: kinds.read.connections }, () => sql`select 1`.execute(readers)));
  const scanner = new LazyWorker<ScanMethods, StorageFailure>({
    file: workerFile(import.meta.url, './scan-thread.ts', './scan-thread.js'),
    name: 'storage-scanner',
    resourceLimits: STORAGE_THREAD_LIMITS,
    errors: STORAGE_ERRORS,
    data: { url, sessions: kinds.scan } satisfies ScanThreadData,
  });
  const writers = openDatabase(url, kinds.write);
  const unsynced = openDatabase(url, kinds.unsynced);
  const store: Store = {
    checkWritable: () => captures.checkWritable(),
    shared: true,
    writeCaptures: (batch, limits, withinMs) => captures.writeCaptures(batch, limits, withinMs),
    drain,
    async deleteOldBatches() {
      // A nats-server that was down may bring back what was drained. Those batches have no receipts.
      const old = sql`delete from capture_batches where written_at < clock_timestamp() - interval '10 minutes'
        and (receipts <> '[]' or written_at < clock_timestamp() - interval '1 day')`;
      await withStorageErrors(old.execute(writers));
    },
    async close() {
      const databases = [readers, writers, unsynced].map((database) => database.destroy());
      await Promise.all([captures.close(), drain.close(), scanner.close(), ...databases]);
    },
  };
  const remote = bindQueries(queries, (kind, name, args) => {
    if (kind === 'scan') return scanner.call('query', { name, args });
    const database = kind === 'read' ? readers : kind === 'unsynced' ? unsynced : writers;
    return withStorageErrors(runRepeatable(queries, database, name, args));
  });
  return { ...store, ...remote };
}

/** Checks the server, and updates the schema. Closes `captures` if that fails. @throws StorageProblem */
async function prepareServer(
  captures: CaptureConnection,
  url: string,
  kind: SessionKind,
  onTablesInUse: MigrationOptions['onTablesInUse'],
): Promise<void> {
  try {
    await captures.check();
    await assertDedicatedSession(url, kind, await captures.backend());
    await migratePostgres(url, kind, { onTablesInUse });
  } catch (error) {
    await captures.close();
    throw startProblem(error, url);
  }
}

/** With the pauses between them they take longer than a search, which may use a table for 30 s. */
const MIGRATION_TRIES = 100;
const RETRY_PAUSE_MS = 300;
/** Milliseconds that a migration waits for a table in use. Captures wait behind it, with all tables that it has locked. */
const TABLE_MS = 200;
/** Every tenth try waits longer than `deadlock_timeout`, after which PostgreSQL stops an automatic vacuum in the way. */
const PATIENT_TRY = 10;
const PATIENT_TABLE_MS = 1_200;
const LOCK_NOT_AVAILABLE = '55P03';

interface MigrationOptions {
  readonly migrations?: readonly Migration[];
  /** Called once, if other sessions use the tables. */
  readonly onTablesInUse?: (() => void) | undefined;
}

/** Updates the schema while other nodes use it. @throws StorageProblem when the database needs a newer program */
export async function migratePostgres(
  url: string,
  kind: SessionKind,
  { migrations = MIGRATIONS, onTablesInUse }: MigrationOptions = {},
): Promise<void> {
  await using db = openDatabase(url, kind);
  for (let tries = 1; ; tries++) {
    try {
      return await migrate(db, migrations, tries % PATIENT_TRY === 0 ? PATIENT_TABLE_MS : TABLE_MS);
    } catch (error) {
      const isBusy = codeOf(error) === LOCK_NOT_AVAILABLE || faultOf(error) === 'conflict';
      if (!isBusy || tries === MIGRATION_TRIES) throw error;
      if (tries === 1) onTablesInUse?.();
      await sleep(RETRY_PAUSE_MS);
    }
  }
}
