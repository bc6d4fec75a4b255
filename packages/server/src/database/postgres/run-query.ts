import { Kysely, PostgresDialect } from 'kysely';
import { runQuery, withEngine } from '../remote.ts';
import type { EngineDatabase, QueryTable } from '../remote.ts';
import type { Tables } from '../schema.ts';
import { StorageUnavailable } from '../storage-problem.ts';
import { postgresEngine } from './engine.ts';
import { openPool } from './session.ts';
import type { SessionKind } from './session.ts';
import { codeOf } from './start-problem.ts';

/** A pool of sessions of one kind. */
export function openDatabase(url: string, kind: SessionKind): EngineDatabase {
  return withEngine(
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, kind) }) }),
    postgresEngine,
  );
}

/** Attempts to send a read while each connection from the pool turns out to be closed. */
const READ_TRIES = 3;
/** The server ended the connection or it broke before a response (PostgreSQL's appendix A, Node's error codes). */
const CONNECTION_LOST = /^(?:57P0[12]|0800[36]|ECONNRESET|EPIPE)$/;
/**
 * The server refuses connections, is out of resources, or is read-only; the statement is not at fault (PostgreSQL's
 * appendix A, Node's error codes).
 */
const UNAVAILABLE =
  /^(?:08...|57014|57P0[123]|53...|55P03|25006|58...|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
/** The driver gives no code to these errors, only a message. */
const DRIVER_LOST = /^Connection terminated/;
const DRIVER_TIMEOUT = /timeout exceeded when trying to connect|Query read timeout/;

/** Classifies an error of the driver: the connection, the server, or the query itself is at fault. */
function faultOf(error: unknown): 'connection' | 'server' | 'query' {
  const code = codeOf(error);
  const message = code === undefined && error instanceof Error ? error.message : '';
  if (CONNECTION_LOST.test(code ?? '') || DRIVER_LOST.test(message)) return 'connection';
  return UNAVAILABLE.test(code ?? '') || DRIVER_TIMEOUT.test(message) ? 'server' : 'query';
}

/**
 * A pool notices late that an idle connection was closed. A read changes nothing, so it is sent again on another
 * connection.
 */
export async function runRead(
  queries: QueryTable,
  db: EngineDatabase,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await runQuery(queries, db, name, args);
    } catch (error) {
      if (tries === READ_TRIES || faultOf(error) !== 'connection') throw error;
    }
  }
}

/** Converts failures of the database, but not of the query, into StorageUnavailable. */
export async function answered<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw faultOf(error) === 'query' ? error : new StorageUnavailable(String(error), { cause: error });
  }
}
