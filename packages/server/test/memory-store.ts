import { Kysely } from 'kysely';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../src/database/migrations/migrate.ts';
import { bindQueries, runQuery, withEngine } from '../src/database/remote.ts';
import type { Remote } from '../src/database/remote.ts';
import { QUERIES } from '../src/queries.ts';
import type { Tables } from '../src/database/schema.ts';
import { sqliteDialect, sqliteEngine } from '../src/database/sqlite/engine.ts';

/** All queries on an SQLite database in memory, for tests that need thousands of rounds. */
export async function openMemoryStore(): Promise<Remote<typeof QUERIES> & { readonly close: () => Promise<void> }> {
  const db = withEngine(new Kysely<Tables>({ dialect: sqliteDialect(new DatabaseSync(':memory:')) }), sqliteEngine);
  await migrate(db, sqliteEngine);
  return {
    ...bindQueries(QUERIES, (_kind, name, args) => runQuery(QUERIES, db, name, args)),
    close: () => db.destroy(),
  };
}
