import { Kysely, PostgresDialect } from 'kysely';
import { bindQueries } from '../bind-queries.ts';
import { migrate } from '../migrations/migrate.ts';
import { QUERIES, READS, SCANS, WRITES } from '../queries/catalogue.ts';
import { withEngine } from '../queries/unbound.ts';
import type { EngineDatabase } from '../queries/unbound.ts';
import type { Tables } from '../schema.ts';
import { StorageUnavailable } from '../storage-problem.ts';
import type { Store } from '../store.ts';
import { CaptureConnection } from './capture-connection.ts';
import { postgresEngine } from './engine.ts';
import { SESSIONS, openPool } from './session.ts';
import type { SessionKind } from './session.ts';
import { codeOf, startProblem } from './start-problem.ts';

export type SessionKinds = Readonly<Record<keyof typeof SESSIONS, SessionKind>>;

/**
 * The store on PostgreSQL, which several servers may share: a connection for captures alone, and pools for reads, searches and the
 * other writes.
 * @throws StorageProblem when the server can't be reached, does not keep what it commits, or was written by a newer version.
 */
export async function openPostgresStore(url: string, kinds: SessionKinds = SESSIONS): Promise<Store> {
  const captures = new CaptureConnection(url, kinds.capture);
  try {
    await captures.check();
    await bringUpToDate(url, kinds.migration);
  } catch (error) {
    await captures.close();
    throw startProblem(error, url);
  }
  const readers = openDatabase(url, kinds.read);
  const scanners = openDatabase(url, kinds.scan);
  const writers = openDatabase(url, kinds.write);
  const writes = bindQueries(WRITES, (name, args) => answered(runQuery(writers, name, args)));
  return {
    ...bindQueries(READS, (name, args) => answered(runRead(readers, name, args))),
    ...bindQueries(SCANS, (name, args) => answered(runRead(scanners, name, args))),
    ...writes,
    async checkWritable(now) {
      await captures.check();
      await writes.checkWritable(now);
    },
    writeCaptures: (batch, limits) => captures.writeCaptures(batch, limits),
    shared: true,
    async close() {
      await Promise.all([captures.close(), readers.destroy(), scanners.destroy(), writers.destroy()]);
    },
  };
}

function openDatabase(url: string, kind: SessionKind): EngineDatabase {
  return withEngine(
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, kind) }) }),
    postgresEngine,
  );
}

/** A table that is busy is waited for shortly and often: see `lockForMigration`. */
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

/** A read is sent so often at most while each connection that it gets turns out to be dead. */
const READ_TRIES = 3;
/** Ended by the server, or broken: what was sent was not answered (PostgreSQL's appendix A, Node's error codes). */
const CONNECTION_LOST = new Set(['57P01', '57P02', '08003', '08006', 'ECONNRESET', 'EPIPE']);

/** A pool learns late that its idle connections have ended. A read changes nothing, so it is simply asked again on another one. */
async function runRead(db: EngineDatabase, name: string, args: readonly unknown[]): Promise<never> {
  for (let tries = 1; ; tries++) {
    try {
      return await runQuery(db, name, args);
    } catch (error) {
      if (tries === READ_TRIES || !isConnectionLost(error)) throw error;
    }
  }
}

/** It does not take connections, has none left, can't write, or has no time: not the statement's fault (PostgreSQL's appendix A, Node's error codes). */
const UNAVAILABLE =
  /^(?:08...|57014|57P0[123]|53...|55P03|25006|58...|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;

/** Tells what is wrong with the database from what is wrong with a call. @throws StorageUnavailable */
async function answered(query: Promise<never>): Promise<never> {
  try {
    return await query;
  } catch (error) {
    const mayPass = isConnectionLost(error) || isTimeOut(error) || UNAVAILABLE.test(codeOf(error) ?? '');
    throw mayPass ? new StorageUnavailable(String(error), { cause: error }) : error;
  }
}

/** The driver's own words: it has no code for these. */
function isTimeOut(error: unknown): boolean {
  return error instanceof Error && /timeout exceeded when trying to connect|Query read timeout/.test(error.message);
}

function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return CONNECTION_LOST.has(code);
  return error instanceof Error && error.message.startsWith('Connection terminated');
}

async function runQuery(db: EngineDatabase, name: string, args: readonly unknown[]): Promise<never> {
  const query: unknown = Reflect.get(QUERIES, name);
  if (typeof query !== 'function') throw new Error(`There is no query ${name}.`);
  // The name decides the type of the result; catalogue.ts ties the two together.
  return (await query(db, ...args)) as never;
}
