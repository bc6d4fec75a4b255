import pg from 'pg';
import type { ClientConfig, CustomTypesConfig, PoolConfig, ClientBase } from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
import { runQuery, withEngine } from '../remote.ts';
import type { EngineDatabase, QueryTable } from '../remote.ts';
import type { Tables } from '../schema.ts';
import { postgresEngine } from './engine.ts';
import { faultOf } from './faults.ts';
import { StorageProblem } from '../store.ts';

/** The purpose of a connection and its time limits. */
export interface SessionKind {
  readonly name: string;
  readonly connections: number;
  /** How many of them stay open while they are idle. */
  readonly kept?: number;
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

const CAPTURE = { connections: 1, statementMs: 4_000, lockMs: 2_000, connectMs: 2_000, lateMs: 500 };
const WRITE = { statementMs: 15_000, lockMs: 2_000, connectMs: 5_000, lateMs: 1_000 };

/**
 * Each kind has its own connections, so that lists, searches and the dashboard's writes never block a capture. A
 * capture is answered within 5 s, so its batch and the lookup of its endpoint fail before that.
 */
export const SESSIONS = {
  capture: { ...CAPTURE, name: 'capture' },
  drain: { ...CAPTURE, name: 'drain' },
  // Kept, because captures need it for lookups, even after other programs have opened all connections that the server allows.
  read: { name: 'read', connections: 6, kept: 1, statementMs: 4_000, lockMs: 2_000, connectMs: 4_000, lateMs: 500 },
  scan: { name: 'scan', connections: 2, statementMs: 30_000, lockMs: 2_000, connectMs: 15_000, lateMs: 5_000 },
  write: { ...WRITE, name: 'write', connections: 4 },
  unsynced: { ...WRITE, name: 'unsynced', connections: 2, isUnsynced: true },
  migration: { name: 'migration', connections: 1, statementMs: 0, lockMs: 0, connectMs: 5_000, lateMs: 0 },
} as const satisfies Record<string, SessionKind>;

/** An idle transaction releases its locks after this time: a frozen process must not block the others. */
const IDLE_TRANSACTION_MS = 2_000;

/** 64-bit integers as numbers: ids, times and counts stay far below 2^53. */
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
};

/** They mean `verify-full` here, and less in the next major version of the driver, which warns of that. */
const STRICT_MODES = /^(?:allow|prefer|require|verify-ca)$/;

/** The URL as the driver reads it correctly. Beside a space or an invalid escape, it leaves `%2F` in the password. */
function connectionString(text: string): string {
  const url = new URL(text.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  const isStrict = STRICT_MODES.test(url.searchParams.get('sslmode') ?? '') && !url.searchParams.has('uselibpqcompat');
  if (isStrict) url.searchParams.set('sslmode', 'verify-full');
  return url.href;
}

/** How to connect for one kind of session. Run `sessionSettings` on the new connection. */
export function clientConfig(url: string, kind: SessionKind): ClientConfig {
  return {
    connectionString: connectionString(url),
    application_name: `creel ${kind.name}`,
    connectionTimeoutMillis: kind.connectMs,
    ...(kind.statementMs === 0 ? {} : { query_timeout: kind.statementMs + kind.lateMs }),
    // Detects a dead peer while nothing is sent; `query_timeout` detects it otherwise.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Sends statements before earlier ones are answered. A late response closes the connection.
    pipeline: true,
    types,
  };
}

/**
 * No JIT compilation. No sequential scans, because every lookup has an index, and a new table has no statistics that
 * show it. Every commit waits for the disk, whatever the default of the role or database is.
 */
const PLANNER_AND_COMMIT = `set jit = off; set enable_seqscan = off; set enable_bitmapscan = off;
  select set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`;

/**
 * The first statement of a session. It replaces every default of the role or the database that the server depends on,
 * even with "no limit". These are not parameters of the connection, because PgBouncer rejects those.
 */
export function sessionSettings(kind: SessionKind): string {
  const idleTransactionMs = kind.statementMs === 0 ? 0 : IDLE_TRANSACTION_MS;
  return `set statement_timeout = ${kind.statementMs}; set lock_timeout = ${kind.lockMs};
    set idle_in_transaction_session_timeout = ${idleTransactionMs}; set idle_session_timeout = 0;
    set default_transaction_isolation = 'read committed';
    ${PLANNER_AND_COMMIT}${kind.isUnsynced ? '; set synchronous_commit = off' : ''}`;
}

/** A pool of sessions. A broken connection is removed and replaced when the next one is needed. */
export function openPool(url: string, kind: SessionKind): pg.Pool {
  const config: PoolConfig = {
    ...clientConfig(url, kind),
    max: kind.connections,
    min: kind.kept ?? 0,
    idleTimeoutMillis: 60_000,
    onConnect: async (client) => void (await client.query(sessionSettings(kind))),
  };
  const pool = new pg.Pool(config);
  // A used connection reports its failure through the query. An idle one needs no action.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Connects at the first query, so a database that is down is reported there. */
export function openDatabase(url: string, kind: SessionKind): EngineDatabase {
  return withEngine(
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(url, kind) }) }),
    postgresEngine,
  );
}

/** Attempts to run a query that can be repeated. */
const MAX_TRIES = 3;

/**
 * Runs a query, and repeats it if a conflict with another transaction undid it. A pool notices late that an idle
 * connection was closed, so a read, which changes nothing, is also repeated on another connection.
 */
export async function runRepeatable(
  queries: QueryTable,
  db: EngineDatabase,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await runQuery(queries, db, name, args);
    } catch (error) {
      const fault = faultOf(error);
      const kind = queries[name]?.kind;
      const isRead = kind === 'read' || kind === 'scan';
      if (tries === MAX_TRIES || !(fault === 'conflict' || (fault === 'connection' && isRead))) throw error;
    }
  }
}

/** Server settings that decide durability. */
const SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit', 'server_encoding', 'server_version_num'] as const;
const READ_SETTINGS = `select pg_is_in_recovery() as in_recovery,
  ${SETTINGS.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`;
/** Their values, as PostgreSQL spells them. */
export type DurabilitySettings = Readonly<Record<(typeof SETTINGS)[number], string>> & {
  readonly in_recovery: boolean;
};

const OLDEST_VERSION = 140_000;
const WAITS_FOR_DISK: readonly string[] = ['on', 'local', 'remote_write', 'remote_apply'];

/**
 * Ensures that commits of this session survive a power cut, and pins the settings for the session. Called for each
 * capture session and each readiness check, because an operator may change the settings at any time. @throws
 * StorageProblem with a sentence for the operator.
 */
export async function assertDurable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<DurabilitySettings>(READ_SETTINGS);
  const settings = rows[0];
  if (settings === undefined) throw new Error('PostgreSQL returned no settings.');
  const problem = durabilityProblem(settings);
  if (problem !== undefined) throw new StorageProblem(problem);
  await client.query(`select set_config('synchronous_commit', $1, false)`, [settings.synchronous_commit]);
}

/** Why captures can't be stored durably, as a sentence for the operator. */
export function durabilityProblem(settings: DurabilitySettings): string | undefined {
  const lossy = (setting: string, value: string): string =>
    `PostgreSQL runs with ${setting}=${value}: a power cut could lose requests that were acknowledged. Set ${setting} to on.`;
  if (settings.fsync !== 'on') return lossy('fsync', settings.fsync);
  if (settings.full_page_writes !== 'on') return lossy('full_page_writes', settings.full_page_writes);
  if (!WAITS_FOR_DISK.includes(settings.synchronous_commit))
    return lossy('synchronous_commit', settings.synchronous_commit);
  if (settings.server_encoding !== 'UTF8')
    return `The PostgreSQL database has the encoding ${settings.server_encoding}. Create one with UTF8.`;
  if (Number(settings.server_version_num) < OLDEST_VERSION)
    return 'PostgreSQL is older than version 14. Use a newer one.';
  if (settings.in_recovery)
    return 'PostgreSQL at this address is a standby and takes no writes. Set DATABASE_URL to the primary.';
  return undefined;
}

/** The process of PostgreSQL that serves a connection. */
export async function backendOf(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  if (rows[0] === undefined) throw new Error('PostgreSQL returned no process.');
  return rows[0].pid;
}

/**
 * A connection pooler in transaction or statement mode lets connections share sessions. Then prepared statements,
 * settings and `LISTEN` of one connection reach others or get lost. `backend` serves another open connection, so a new
 * one must have a different process. @throws StorageProblem
 */
export async function assertDedicatedSession(url: string, kind: SessionKind, backend: number): Promise<void> {
  const client = new pg.Client(clientConfig(url, kind));
  client.on('error', () => undefined);
  await client.connect();
  try {
    if ((await backendOf(client)) !== backend) return;
  } finally {
    await client.end();
  }
  throw new StorageProblem(
    'The connection pooler at DATABASE_URL lets connections share sessions of PostgreSQL. Set its pool mode to session, or set DATABASE_URL to PostgreSQL itself.',
  );
}
