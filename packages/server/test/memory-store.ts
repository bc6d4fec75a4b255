import { Kysely } from 'kysely';
import { DatabaseSync } from 'node:sqlite';
import { bindQueries } from '../src/database/bind-queries.ts';
import { migrate } from '../src/database/migrations/migrate.ts';
import { QUERIES } from '../src/queries.ts';
import type { StoreQueries } from '../src/queries.ts';
import { withEngine } from '../src/database/unbound.ts';
import type { Tables } from '../src/database/schema.ts';
import { sqliteDialect } from '../src/database/sqlite/dialect.ts';
import { sqliteEngine } from '../src/database/sqlite/engine.ts';

/** All queries on an SQLite database in memory, for tests that need thousands of rounds. */
export async function openMemoryStore(): Promise<StoreQueries & { readonly close: () => Promise<void> }> {
  const db = withEngine(new Kysely<Tables>({ dialect: sqliteDialect(new DatabaseSync(':memory:')) }), sqliteEngine);
  await migrate(db, sqliteEngine);
  const queries = bindQueries(QUERIES, async (name, args) => {
    const query: unknown = Reflect.get(QUERIES, name);
    if (typeof query !== 'function') throw new Error(`There is no query ${name}.`);
    return (await query(db, ...args)) as never;
  });
  return { ...queries, close: () => db.destroy() };
}
