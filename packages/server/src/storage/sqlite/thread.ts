import { Kysely } from 'kysely';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { migrate } from '../migrations/migrate.ts';
import { QUERIES } from '../queries/catalogue.ts';
import { withEngine } from '../queries/unbound.ts';
import type { EngineDatabase } from '../queries/unbound.ts';
import type { Tables } from '../schema.ts';
import { StorageProblem } from '../storage-problem.ts';
import { writeBatch } from '../write-captures.ts';
import type { CaptureStatements } from '../write-captures.ts';
import { sqliteCaptureStatements } from './capture-statements.ts';
import { sqliteDialect } from './dialect.ts';
import { sqliteEngine } from './engine.ts';
import { claimDataDir, leaveSyncingToOthers, openReader, openWriter } from './open-database.ts';
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts';

/**
 * One thread with one connection to the SQLite file: the writer, or a reader. Messages are worked off strictly one after the
 * other, so that a transaction is never interleaved with a batch.
 */
const port = parentPort;
if (port === null) throw new Error('thread.ts runs as a worker thread.');
// The one who posts is storage's own main-thread half, from the same build; see thread-client.ts.
const { role, dataDir } = workerData as ThreadData;

interface Connection {
  readonly raw: DatabaseSync;
  readonly db: EngineDatabase;
  readonly statements: CaptureStatements | undefined;
}

function post(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

async function connect(): Promise<Connection> {
  // Held for the life of the thread.
  const lock = role === 'writer' ? claimDataDir(dataDir) : undefined;
  const raw = role === 'writer' ? openWriter(dataDir) : openReader(dataDir);
  const db = withEngine(new Kysely<Tables>({ dialect: sqliteDialect(raw) }), sqliteEngine);
  if (role === 'writer') {
    await migrate(db, sqliteEngine);
    leaveSyncingToOthers(raw);
  }
  port?.once('close', () => lock?.close());
  return { raw, db, statements: role === 'writer' ? sqliteCaptureStatements(raw) : undefined };
}

async function writeCaptures(connection: Connection, message: Extract<ToThread, { kind: 'captures' }>): Promise<void> {
  if (connection.statements === undefined) throw new Error('A reader was asked to write.');
  connection.raw.exec('begin immediate');
  try {
    const outcome = await writeBatch(connection.statements, message.batch, message.limits);
    connection.raw.exec('commit');
    const recycled = message.batch.bytes.buffer;
    post({ kind: 'captured', id: message.id, outcome: { ...outcome, recycled } }, [outcome.indexes.buffer, outcome.savedIds.buffer, recycled].filter(isArrayBuffer));
  } catch (error) {
    if (connection.raw.isTransaction) connection.raw.exec('rollback');
    throw error;
  }
}

function isArrayBuffer(buffer: ArrayBufferLike): buffer is ArrayBuffer {
  return buffer instanceof ArrayBuffer;
}

async function handle(connection: Connection, message: ToThread): Promise<void> {
  try {
    if (message.kind === 'captures') return await writeCaptures(connection, message);
    if (message.kind === 'close') {
      await connection.db.destroy();
      post({ kind: 'result', id: message.id, value: undefined });
      return port?.close();
    }
    const query: unknown = Reflect.get(QUERIES, message.name);
    if (typeof query !== 'function') throw new Error(`There is no query ${message.name}.`);
    post({ kind: 'result', id: message.id, value: await query(connection.db, ...message.args) });
  } catch (error) {
    post({ kind: 'failure', id: message.id, message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  }
}

try {
  const connection = await connect();
  let last: Promise<void> = Promise.resolve();
  port.on('message', (message: ToThread) => {
    last = last.then(() => handle(connection, message));
  });
  post({ kind: 'ready' });
} catch (error) {
  if (!(error instanceof StorageProblem)) throw error;
  post({ kind: 'refused', problem: error.message });
  port.close();
}
