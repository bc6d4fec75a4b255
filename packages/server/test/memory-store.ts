import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../src/database/migrations/migrate.ts';
import { bindQueries, runQuery } from '../src/database/remote.ts';
import type { Remote } from '../src/database/remote.ts';
import { QUERIES } from '../src/queries.ts';
import { sqliteDatabase } from '../src/database/sqlite/engine.ts';

/** All queries on an SQLite database in memory, for tests that need thousands of rounds. */
export async function openMemoryStore(): Promise<Remote<typeof QUERIES> & { readonly close: () => Promise<void> }> {
  const db = sqliteDatabase(new DatabaseSync(':memory:'));
  await migrate(db);
  return {
    ...bindQueries(QUERIES, (_kind, name, args) => runQuery(QUERIES, db, name, args)),
    close: () => db.destroy(),
  };
}
