import pg from 'pg';
import type { ClientConfig, CustomTypesConfig, PoolConfig } from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
import { runQuery, withEngine } from '../remote.ts';
import type { EngineDatabase, QueryTable } from '../remote.ts';
import type { Tables } from '../schema.ts';
import { postgresEngine } from './engine.ts';
import { faultOf } from './faults.ts';

/** The purpose of a connection and its time limits. */
export interface SessionKind {
  readonly name: string;
  /** Maximum number of connections of this kind. */
  readonly connections: number;
  /** Milliseconds that a statement may run; 0 for no limit. */
  readonly statementMs: number;
  /** Milliseconds that a statement may wait for a lock. */
  readonly lockMs: number;
  /** Milliseconds to wait for a free or new connection. */
  readonly connectMs: number;
  /** Milliseconds beyond `statementMs` after which an unresponsive connection counts as lost. */
  readonly lateMs: number;
  /** Commits don't wait for the disk. */
  readonly isUnsynced?: boolean;
}

/**
 * Each kind has its own connections, so that lists, searches and the dashboard's writes never block a capture. A
 * capture is answered within 5 s, so its batch and the lookup of its endpoint fail before that.
 */
export const SESSIONS = {
  capture: { name: 'capture', connections: 1, statementMs: 4_000, lockMs: 2_000, connectMs: 2_000, lateMs: 500 },
  drain: { name: 'drain', connections: 1, statementMs: 4_000, lockMs: 2_000, connectMs: 2_000, lateMs: 500 },
  read: { name: 'read', connections: 6, statementMs: 4_000, lockMs: 2_000, connectMs: 4_000, lateMs: 500 },
  scan: { name: 'scan', connections: 2, statementMs: 30_000, lockMs: 2_000, connectMs: 15_000, lateMs: 5_000 },
  write: { name: 'write', connections: 4, statementMs: 15_000, lockMs: 2_000, connectMs: 5_000, lateMs: 1_000 },
  unsynced: {
    name: 'unsynced',
    connections: 2,
    statementMs: 15_000,
    lockMs: 2_000,
    connectMs: 5_000,
    lateMs: 1_000,
    isUnsynced: true,
  },
  migration: { name: 'migration', connections: 1, statementMs: 0, lockMs: 0, connectMs: 5_000, lateMs: 0 },
} as const satisfies Record<string, SessionKind>;

/** An idle transaction releases its locks after this time: a frozen process must not block the others. */
const IDLE_TRANSACTION_MS = 2_000;

/** 64-bit integers as numbers: ids, times and counts stay far below 2^53. */
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
};

/** How to connect for one kind of session. */
export function clientConfig(url: string, kind: SessionKind): ClientConfig {
  return {
    connectionString: url,
    application_name: `creel ${kind.name}`,
    connectionTimeoutMillis: kind.connectMs,
    statement_timeout: kind.statementMs,
    lock_timeout: kind.lockMs,
    ...(kind.statementMs === 0
      ? {}
      : { idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS, query_timeout: kind.statementMs + kind.lateMs }),
    // Detects a dead peer while nothing is sent; `query_timeout` detects it otherwise.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Sends statements before earlier ones are answered. A late response closes the connection.
    pipeline: true,
    types,
  };
}

/**
 * For every session: no JIT compilation; no sequential scans, because every lookup has an index, whatever a new table's
 * missing statistics suggest; and every commit waits for the disk, whatever the defaults of the role or database are.
 * `openPool` takes the last one back for unsynced sessions.
 */
export const SESSION_SETTINGS = `set jit = off; set enable_seqscan = off; set enable_bitmapscan = off;
  select set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`;

const UNSYNCED = 'set synchronous_commit = off';

/** A pool of sessions. A broken connection is removed and replaced when the next one is needed. */
export function openPool(url: string, kind: SessionKind): pg.Pool {
  const config: PoolConfig = {
    ...clientConfig(url, kind),
    max: kind.connections,
    idleTimeoutMillis: 60_000,
    onConnect: async (client) =>
      void (await client.query(kind.isUnsynced ? `${SESSION_SETTINGS}; ${UNSYNCED}` : SESSION_SETTINGS)),
  };
  const pool = new pg.Pool(config);
  // A used connection reports its failure through the query. For an idle one nothing needs to be done.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A pool of sessions of one kind. */
export function openDatabase(url: string, kind: SessionKind): EngineDatabase {
  return withEngine(
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, kind) }) }),
    postgresEngine,
  );
}

/** Attempts to send a read while each connection from the pool turns out to be closed. */
const READ_TRIES = 3;
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
