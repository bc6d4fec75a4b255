import { Kysely, PostgresDialect } from 'kysely';
import { QUERIES } from '../../queries.ts';
import { withEngine } from '../unbound.ts';
import type { EngineDatabase } from '../unbound.ts';
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
const CONNECTION_LOST = new Set(['57P01', '57P02', '08003', '08006', 'ECONNRESET', 'EPIPE']);

/**
 * A pool notices late that an idle connection was closed. A read changes nothing, so it is sent again on another
 * connection.
 */
export async function runRead(db: EngineDatabase, name: string, args: readonly unknown[]): Promise<never> {
  for (let tries = 1; ; tries++) {
    try {
      return await runQuery(db, name, args);
    } catch (error) {
      if (tries === READ_TRIES || !isConnectionLost(error)) throw error;
    }
  }
}

/**
 * The server refuses connections, is out of resources, or is read-only; the statement is not at fault (PostgreSQL's
 * appendix A, Node's error codes).
 */
const UNAVAILABLE =
  /^(?:08...|57014|57P0[123]|53...|55P03|25006|58...|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;

/** Converts failures of the database, but not of the query, into StorageUnavailable. */
export async function answered(query: Promise<never>): Promise<never> {
  try {
    return await query;
  } catch (error) {
    const mayPass = isConnectionLost(error) || isTimeOut(error) || UNAVAILABLE.test(codeOf(error) ?? '');
    throw mayPass ? new StorageUnavailable(String(error), { cause: error }) : error;
  }
}

/** The driver's message texts, because it has no codes for these. */
function isTimeOut(error: unknown): boolean {
  return error instanceof Error && /timeout exceeded when trying to connect|Query read timeout/.test(error.message);
}

function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return CONNECTION_LOST.has(code);
  return error instanceof Error && error.message.startsWith('Connection terminated');
}

/** Runs a registered query by name. */
export async function runQuery(db: EngineDatabase, name: string, args: readonly unknown[]): Promise<never> {
  const query: unknown = Reflect.get(QUERIES, name);
  if (typeof query !== 'function') throw new Error(`There is no query ${name}.`);
  // The name determines the result type; queries.ts connects the two.
  return (await query(db, ...args)) as never;
}
