import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { QUERIES } from '../../queries.ts';
import { refuseStart, sendNotice, serveCalls } from '../../workers/worker-server.ts';
import { runQuery } from '../remote.ts';
import type { EngineDatabase, QueryTable } from '../remote.ts';
import type { PackedCaptures } from '../packed-captures.ts';
import { STORAGE_ERRORS, StorageProblem, StorageUnavailable } from '../store.ts';
import type { CaptureLimits, CaptureOutcome } from '../store.ts';
import { SMALL_WRITE } from '../write-captures.ts';
import type { CaptureStatements } from '../write-captures.ts';
import { commitBatch } from './capture-statements.ts';
import { sqliteDatabase } from './engine.ts';
import { GuardedWrites } from './guarded-writes.ts';
import type { WritePurpose } from './disk-space.ts';
import { openReader, openWriterConnection, withoutSync } from './open-database.ts';

/** Start parameters. */
export interface SqliteThreadData {
  readonly role: 'writer' | 'reader' | 'scanner';
  readonly dataDir: string;
}

/**
 * A thread with one connection to the SQLite file. The writer answers calls one at a time, so that a transaction is
 * never interleaved with a batch. Readers answer them concurrently, because a search or a read of large bodies may take
 * long.
 */
const { role, dataDir }: SqliteThreadData = workerData;

interface Connection {
  readonly raw: DatabaseSync;
  readonly db: EngineDatabase;
  /** Set in the writer only. */
  readonly writer: { readonly statements: CaptureStatements; readonly guard: GuardedWrites } | undefined;
}

async function connectWriter(): Promise<Connection> {
  const { raw, db, statements, release } = await openWriterConnection(dataDir);
  // Keeps the lock for the life of the thread.
  parentPort?.once('close', release);
  const guard = new GuardedWrites(raw, dataDir, sendNotice);
  return { raw, db, writer: { statements, guard } };
}

/** With this many bytes, a checkpoint is worth it. Otherwise the commit of every second large batch would move two. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;
let bytesInLog = 0;

let connection: Connection | undefined;

/** A reader opens the file with its first query, because at its start the writer may still create the tables. */
function connected(): Connection {
  if (connection !== undefined) return connection;
  const raw = openReader(dataDir);
  connection = { raw, db: sqliteDatabase(raw), writer: undefined };
  return connection;
}

/** Runs a call. The guard of the writer needs its purpose. @throws StorageUnavailable when the disk is at fault */
async function guarded<T>(purpose: WritePurpose, work: (connection: Connection) => Promise<T>): Promise<T> {
  try {
    const current = connected();
    return await (current.writer === undefined
      ? work(current)
      : current.writer.guard.run(purpose, () => work(current)));
  } catch (error) {
    throw isDiskError(error) ? new StorageUnavailable(error.message, { cause: error }) : error;
  }
}

const methods = {
  async query({ name, args }: { readonly name: string; readonly args: readonly unknown[] }) {
    const queries: QueryTable = QUERIES;
    const kind = queries[name]?.kind;
    return guarded(kind === 'freeing' ? 'freeing' : 'other', ({ db, raw }) => {
      const run = (): Promise<unknown> => runQuery(queries, db, name, args);
      return kind === 'unsynced' ? withoutSync(raw, run) : run();
    });
  },
  /** Its commit syncs the log, with all earlier commits. */
  checkWritable: (purpose: WritePurpose): Promise<void> => guarded(purpose, async ({ raw }) => raw.exec(SMALL_WRITE)),
  writeCaptures: ({ batch, limits }: { readonly batch: PackedCaptures; readonly limits: CaptureLimits }) =>
    guarded('capture', async ({ raw, writer }): Promise<CaptureOutcome> => {
      if (writer === undefined) throw new Error('A reader was asked to write.');
      const outcome = await commitBatch(raw, writer.statements, batch, limits);
      bytesInLog += batch.bytes.length;
      return { ...outcome, recycled: batch.bytes.buffer };
    }),
  async checkpoint() {
    if (bytesInLog < CHECKPOINT_BYTES) return;
    bytesInLog = 0;
    connection?.writer?.guard.checkpoint();
  },
};

export type SqliteMethods = typeof methods;

async function close(): Promise<void> {
  await connection?.writer?.guard.close();
  await connection?.db.destroy();
}

/** SQLite's result codes that are not the statement's fault: BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN. */
const DISK_ERRORS: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14]);

function isDiskError(error: unknown): error is Error {
  // The low byte is the primary result code.
  return error instanceof Error && 'errcode' in error && DISK_ERRORS.has(Number(error.errcode) & 0xff);
}

try {
  if (role === 'writer') connection = await connectWriter();
  serveCalls({ methods, close, errors: STORAGE_ERRORS, inOrder: role === 'writer' });
  connection?.writer?.guard.watch();
} catch (error) {
  if (!(error instanceof StorageProblem)) throw error;
  refuseStart(error, STORAGE_ERRORS);
}
