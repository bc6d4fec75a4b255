import { Kysely } from 'kysely';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { QUERIES, WRITES_ON_A_FULL_DISK } from '../../queries.ts';
import { withEngine } from '../unbound.ts';
import type { EngineDatabase } from '../unbound.ts';
import type { Tables } from '../schema.ts';
import { StorageProblem, StorageUnavailable } from '../storage-problem.ts';
import type { UnavailableReason } from '../storage-problem.ts';
import type { CaptureStatements } from '../write-captures.ts';
import { commitBatch } from './commit-batch.ts';
import { sqliteDialect } from './dialect.ts';
import type { WritePurpose } from './disk-space.ts';
import { sqliteEngine } from './engine.ts';
import { GuardedWrites } from './guarded-writes.ts';
import { openReader } from './open-database.ts';
import type { FromThread, SqliteThreadData, ToThread } from '../thread-messages.ts';
import { openWriterConnection } from './writer-connection.ts';

/**
 * A thread with one connection to the SQLite file: the writer or a reader. It handles messages one at a time, so that a
 * transaction is never interleaved with a batch.
 */
const port = parentPort;
if (port === null) throw new Error('thread.ts runs as a worker thread.');
// Only storage-thread.ts of the same build starts this thread.
const { role, dataDir } = workerData as SqliteThreadData;

interface Connection {
  readonly raw: DatabaseSync;
  readonly db: EngineDatabase;
  /** Set in the writer only. */
  readonly writer: { readonly statements: CaptureStatements; readonly guard: GuardedWrites } | undefined;
}

function post(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

async function connectWriter(): Promise<Connection> {
  const { raw, db, statements, release } = await openWriterConnection(dataDir);
  // Keeps the lock for the life of the thread.
  port?.once('close', release);
  const guard = new GuardedWrites(raw, dataDir, (state) => post({ kind: 'disk', state }));
  return { raw, db: withEngine(db, sqliteEngine), writer: { statements, guard } };
}

function connectReader(): Connection {
  const raw = openReader(dataDir);
  return {
    raw,
    db: withEngine(new Kysely<Tables>({ dialect: sqliteDialect(raw) }), sqliteEngine),
    writer: undefined,
  };
}

async function writeCaptures(
  { raw, writer }: Connection,
  message: Extract<ToThread, { kind: 'captures' }>,
): Promise<void> {
  if (writer === undefined) throw new Error('A reader was asked to write.');
  const outcome = await writer.guard.run('capture', () =>
    commitBatch(raw, writer.statements, message.batch, message.limits),
  );
  const recycled = message.batch.bytes.buffer;
  post(
    { kind: 'captured', id: message.id, outcome: { ...outcome, recycled } },
    [outcome.indexes.buffer, outcome.savedIds.buffer, recycled].filter(isArrayBuffer),
  );
}

function isArrayBuffer(buffer: ArrayBufferLike): buffer is ArrayBuffer {
  return buffer instanceof ArrayBuffer;
}

let connection: Connection | undefined;

/**
 * A reader opens the file with its first query, because it starts while the writer may still be creating the tables.
 */
function connected(): Connection {
  connection ??= connectReader();
  return connection;
}

function purposeOf(query: string): WritePurpose {
  // The check writes in the same way as a capture.
  if (query === 'checkWritable') return 'capture';
  return WRITES_ON_A_FULL_DISK.has(query) ? 'freeing' : 'other';
}

async function runQuery(
  { db, writer }: Connection,
  { name, args }: Extract<ToThread, { kind: 'query' }>,
): Promise<unknown> {
  const query: unknown = Reflect.get(QUERIES, name);
  if (typeof query !== 'function') throw new Error(`There is no query ${name}.`);
  const run = async (): Promise<unknown> => query(db, ...args);
  return writer === undefined ? run() : writer.guard.run(purposeOf(name), run);
}

async function handle(message: ToThread): Promise<void> {
  try {
    if (message.kind === 'captures') return await writeCaptures(connected(), message);
    if (message.kind === 'close') {
      await connection?.writer?.guard.close();
      await connection?.db.destroy();
      post({ kind: 'result', id: message.id, value: undefined });
      return port?.close();
    }
    post({ kind: 'result', id: message.id, value: await runQuery(connected(), message) });
  } catch (error) {
    post({
      kind: 'failure',
      id: message.id,
      message: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
      unavailable: unavailableReason(error),
    });
  }
}

/** SQLite's result codes that are not the statement's fault: BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN. */
const OF_THE_DISK: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14]);

function unavailableReason(error: unknown): UnavailableReason | undefined {
  if (error instanceof StorageUnavailable) return error.reason;
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  // The low byte is the primary result code.
  return OF_THE_DISK.has(code & 0xff) ? 'away' : undefined;
}

try {
  if (role === 'writer') connection = await connectWriter();
  let last: Promise<void> = Promise.resolve();
  port.on('message', (message: ToThread) => {
    last = last.then(() => handle(message));
  });
  post({ kind: 'ready' });
  connection?.writer?.guard.watch();
} catch (error) {
  if (!(error instanceof StorageProblem)) throw error;
  post({ kind: 'refused', problem: error.message });
  port.close();
}
