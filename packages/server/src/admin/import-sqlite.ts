import { DatabaseSync } from 'node:sqlite';
import type { SQLOutputValue } from 'node:sqlite';
import pg from 'pg';
import { migratePostgres } from '../database/postgres/postgres-store.ts';
import { clientConfig, SESSIONS, sessionSettings } from '../database/postgres/session.ts';
import { startProblem } from '../database/postgres/faults.ts';
import { codeOf } from '../error-code.ts';
import { sqliteDatabase } from '../database/sqlite/engine.ts';
import { claimDataDir, databaseFile } from '../database/sqlite/open-database.ts';
import { migrate } from '../database/migrations/migrate.ts';
import { AdminProblem, exists } from './sqlite-files.ts';

/** Rows and bytes of one insert statement. PostgreSQL accepts 65,535 parameters. */
const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Copies every row of the SQLite database in `dataDir` into an empty PostgreSQL database, in one transaction. Ids,
 * indexes, times and bytes stay the same. @throws AdminProblem, StorageProblem; then PostgreSQL has no new row
 */
export async function importSqlite(dataDir: string, url: string) {
  const file = databaseFile(dataDir);
  if (!exists(file))
    throw new AdminProblem(`There is no database in ${dataDir}. Name the data folder, which contains creel.db.`);
  using _ = claimDataDir(dataDir);
  try {
    using source = new DatabaseSync(file);
    // The two schemas are equal only at the same version.
    await migrate(sqliteDatabase(source));
    await migratePostgres(url, SESSIONS.migration);
    const client = new pg.Client(clientConfig(url, SESSIONS.migration));
    await client.connect();
    try {
      await client.query(sessionSettings(SESSIONS.migration));
      await client.query('begin');
      const tables = await copyTables(source, client);
      await client.query('commit');
      return tables;
    } finally {
      await client.end();
    }
  } catch (error) {
    const isOfSqlite = codeOf(error) === 'ERR_SQLITE_ERROR';
    throw error instanceof AdminProblem || isOfSqlite ? error : startProblem(error, url);
  }
}

/** Returns how many rows of each table were copied. */
async function copyTables(source: DatabaseSync, client: pg.Client) {
  const { rowCount } = await client.query('select from users limit 1');
  if (rowCount !== 0) throw new AdminProblem('The PostgreSQL database has accounts already. Use an empty database.');
  const tables = tableNames(source);
  // Migrations insert rows too.
  await client.query(`truncate ${tables.map((table) => `"${table}"`).join(', ')}`);
  const imported: { table: string; rows: number }[] = [];
  for (const table of tables) imported.push({ table, rows: await copyTable(source, client, table) });
  await continueIds(source, client);
  return imported;
}

/** In the order in which they were created, so that a row's references exist. */
function tableNames(source: DatabaseSync): string[] {
  return source
    .prepare(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name <> 'schema_version' order by rowid`,
    )
    .all()
    .map(({ name }) => String(name));
}

async function copyTable(source: DatabaseSync, client: pg.Client, table: string): Promise<number> {
  const columns = source
    .prepare(`select name from pragma_table_info(?)`)
    .all(table)
    .map(({ name }) => String(name));
  const statement = source.prepare(`select * from "${table}"`);
  // Keys of requests need 64 bits.
  statement.setReadBigInts(true);
  let rows = 0;
  let waiting: SQLOutputValue[][] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (waiting.length > 0) await insertRows(client, table, columns, waiting);
    rows += waiting.length;
    waiting = [];
    bytes = 0;
  };
  for (const row of statement.iterate()) {
    const values = columns.map((column) => row[column] ?? null);
    waiting.push(values);
    bytes += values.reduce<number>((sum, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0);
    if (waiting.length >= MAX_ROWS || bytes >= MAX_BYTES) await flush();
  }
  await flush();
  return rows;
}

async function insertRows(
  client: pg.Client,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly SQLOutputValue[])[],
): Promise<void> {
  const places = rows.map((_, at) => `(${columns.map((__, nth) => `$${at * columns.length + nth + 1}`).join(', ')})`);
  const names = columns.map((column) => `"${column}"`).join(', ');
  await client.query(
    `insert into "${table}" (${names}) overriding system value values ${places.join(', ')}`,
    rows.flat(),
  );
}

/** New ids continue after all assigned ids, including those of deleted rows. */
async function continueIds(source: DatabaseSync, client: pg.Client): Promise<void> {
  for (const { name, seq } of source.prepare('select name, seq from sqlite_sequence').all())
    await client.query(`select setval(pg_get_serial_sequence($1, 'id'), $2)`, [name, Math.max(1, Number(seq))]);
  const counter = source.prepare(`select value from counters where name = 'saved_id'`).get();
  const savedId = Number(counter?.['value'] ?? 0);
  await client.query(`select setval('saved_request_ids', $1, $2)`, [Math.max(1, savedId), savedId > 0]);
}
