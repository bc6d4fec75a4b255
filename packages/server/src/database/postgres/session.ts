import pg from 'pg';
import type { ClientConfig, CustomTypesConfig, PoolConfig } from 'pg';

/** What one kind of connection is for, and how long it may wait. */
export interface SessionKind {
  readonly name: string;
  /** Connections of this kind at most. */
  readonly connections: number;
  /** Milliseconds that a statement may run; 0 is for ever. */
  readonly statementMs: number;
  /** Milliseconds that a statement may wait for another one's lock. */
  readonly lockMs: number;
  /** Milliseconds of waiting for a free or a new connection. */
  readonly connectMs: number;
  /** Milliseconds beyond `statementMs` after which a connection that has not answered counts as cut. */
  readonly lateMs: number;
}

/**
 * Each kind has connections of its own, so that neither lists nor searches nor the dashboard's writes ever hold up a capture. A sender
 * gives up after 10 to 30 s, so a capture says no before that; what a person waits for ends sooner than their patience.
 */
export const SESSIONS = {
  capture: { name: 'capture', connections: 1, statementMs: 10_000, lockMs: 5_000, connectMs: 3_000, lateMs: 5_000 },
  read: { name: 'read', connections: 6, statementMs: 10_000, lockMs: 5_000, connectMs: 5_000, lateMs: 5_000 },
  scan: { name: 'scan', connections: 2, statementMs: 30_000, lockMs: 5_000, connectMs: 15_000, lateMs: 5_000 },
  write: { name: 'write', connections: 4, statementMs: 15_000, lockMs: 5_000, connectMs: 5_000, lateMs: 5_000 },
  migration: { name: 'migration', connections: 1, statementMs: 0, lockMs: 0, connectMs: 5_000, lateMs: 0 },
} as const satisfies Record<string, SessionKind>;

/** A transaction that nobody goes on with holds its rows no longer than this: a frozen process must not stop the others. */
const IDLE_TRANSACTION_MS = 10_000;

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
    // Finds a peer that is gone while nothing is being sent; `query_timeout` finds it while something is.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements may be sent before the ones in front are answered, and a late answer closes the connection and does not linger in it.
    pipeline: true,
    types,
  };
}

/**
 * For every session: no compiling of plans; no plan that reads a whole table, since all that is looked up lies in an index, whatever a
 * new table's missing statistics or the guessed size of a batch suggest; and each commit waits for the disk whatever a role or database
 * was told.
 */
export const SESSION_SETTINGS = `set jit = off; set enable_seqscan = off; set enable_bitmapscan = off;
  select set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`;

/** A pool of sessions. A connection that dies leaves it and is replaced when the next one is needed. */
export function openPool(url: string, kind: SessionKind): pg.Pool {
  const config: PoolConfig = {
    ...clientConfig(url, kind),
    max: kind.connections,
    idleTimeoutMillis: 60_000,
    onConnect: async (client) => void (await client.query(SESSION_SETTINGS)),
  };
  const pool = new pg.Pool(config);
  // Whoever uses the connection is told by the failed query; one that nobody uses is merely gone.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
