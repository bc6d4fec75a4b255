import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withPostgres } from '../../../fixtures/postgres-client.ts';

type Row = Readonly<Record<string, unknown>>;

/** A checksum over `storedRows`. Equal sums mean no change. */
export async function databaseSum(storage: string, without: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  for (const row of await storedRows(storage, without)) hash.update(`${row}\n`);
  return hash.digest('hex');
}

/** Every row of every table except `without`, as text. `storage` is a data folder or the URL of a database. */
export async function storedRows(storage: string, without: readonly string[] = []): Promise<string[]> {
  const tables = await (storage.startsWith('postgres') ? readPostgres(storage) : readSqlite(storage));
  return Object.entries(tables).flatMap(([name, rows]) =>
    // `checks` changes with each readiness check.
    without.includes(name) ? [] : rows.filter((row) => row['name'] !== 'checks').map((row) => `${name} ${asText(row)}`),
  );
}

function asText(row: Row): string {
  const values = Object.values(row).map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : JSON.stringify(value),
  );
  return values.join(' ');
}

function readSqlite(dataDir: string): Record<string, readonly Row[]> {
  using database = new DatabaseSync(join(dataDir, 'creel.db'), { readOnly: true });
  const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), database.prepare(`select * from "${String(name)}"`).all()]),
  );
}

function readPostgres(url: string): Promise<Record<string, readonly Row[]>> {
  return withPostgres(url, async (client) => {
    const tables = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    const all: Record<string, readonly Row[]> = {};
    for (const { name } of tables.rows) all[name] = (await client.query<Row>(`select * from "${name}"`)).rows;
    return all;
  });
}
