import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../src/database/migrations/migrate.ts';
import { bindQueries, runQuery } from '../src/database/remote.ts';
import type { Remote } from '../src/database/remote.ts';
import { QUERIES } from '../src/queries.ts';
import { sqliteDatabase } from '../src/database/sqlite/engine.ts';

/**
 * All queries on an SQLite database in memory, for tests that need thousands of rounds. `now` becomes the database's
 * clock.
 */
export async function openMemoryStore(
  now: () => number = Date.now,
): Promise<Remote<typeof QUERIES> & { readonly close: () => Promise<void> }> {
  const database = new DatabaseSync(':memory:');
  database.function('unixepoch', { varargs: true }, () => now() / 1000);
  const db = sqliteDatabase(database);
  await migrate(db);
  return {
    ...bindQueries(QUERIES, (_kind, name, args) => runQuery(QUERIES, db, name, args)),
    close: () => db.destroy(),
  };
}
