import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { QUERIES } from '../../queries.ts';
import { refuseStart, sendUpdate, serveCalls } from '../../workers/worker-server.ts';
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

async function connect(): Promise<Connection> {
  if (role !== 'writer') {
    const raw = openReader(dataDir);
    return { raw, db: sqliteDatabase(raw), writer: undefined };
  }
  const { raw, db, statements, release } = await openWriterConnection(dataDir);
  // Keeps the lock for the life of the thread.
  parentPort?.once('close', release);
  return { raw, db, writer: { statements, guard: new GuardedWrites(raw, dataDir, sendUpdate) } };
}

/** With this many bytes, a checkpoint is worth it. Otherwise the commit of every second large batch would move two. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;

export type SqliteMethods = ReturnType<typeof methodsOf>;

function methodsOf({ raw, db, writer }: Connection) {
  let bytesInLog = 0;

  /** Runs a call. The guard of the writer needs its purpose. @throws StorageUnavailable when the disk is at fault */
  async function guarded<T>(purpose: WritePurpose, work: () => Promise<T>): Promise<T> {
    try {
      return await (writer === undefined ? work() : writer.guard.run(purpose, work));
    } catch (error) {
      throw storageError(error);
    }
  }

  return {
    async query({ name, args }: { readonly name: string; readonly args: readonly unknown[] }) {
      const queries: QueryTable = QUERIES;
      const kind = queries[name]?.kind;
      const run = (): Promise<unknown> => runQuery(queries, db, name, args);
      return guarded(kind === 'freeing' ? 'freeing' : 'other', () =>
        kind === 'unsynced' ? withoutSync(raw, run) : run(),
      );
    },
    /** Its commit syncs the log, with all earlier commits. */
    checkWritable: (purpose: WritePurpose): Promise<void> => guarded(purpose, async () => raw.exec(SMALL_WRITE)),
    writeCaptures: ({ batch, limits }: { readonly batch: PackedCaptures; readonly limits: CaptureLimits }) =>
      guarded('capture', async (): Promise<CaptureOutcome> => {
        if (writer === undefined) throw new Error('A reader was asked to write.');
        const outcome = await commitBatch(raw, writer.statements, batch, limits);
        bytesInLog += batch.bytes.length;
        return { ...outcome, recycled: batch.bytes.buffer };
      }),
    async checkpoint() {
      if (bytesInLog < CHECKPOINT_BYTES) return;
      bytesInLog = 0;
      writer?.guard.checkpoint();
    },
  };
}

/** SQLite's result codes that are not the statement's fault: BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN. */
const DISK_ERRORS: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14]);

function storageError(error: unknown): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  // The low byte is the primary result code.
  const isOfDisk = DISK_ERRORS.has(Number(error.errcode) & 0xff);
  return isOfDisk ? new StorageUnavailable(error.message, { cause: error }) : error;
}

try {
  const connection = await connect();
  const { db, writer } = connection;
  const close = async (): Promise<void> => {
    await writer?.guard.close();
    await db.destroy();
  };
  serveCalls({ methods: methodsOf(connection), close, errors: STORAGE_ERRORS, inOrder: role === 'writer' });
  writer?.guard.watch();
} catch (thrown) {
  const error = storageError(thrown);
  if (!(error instanceof StorageProblem || error instanceof StorageUnavailable)) throw thrown;
  refuseStart(error, STORAGE_ERRORS);
}
