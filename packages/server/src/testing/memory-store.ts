import { Kysely } from 'kysely';
import { DatabaseSync } from 'node:sqlite';
import { bindQueries } from '../storage/bind-queries.ts';
import { migrate } from '../storage/migrations/migrate.ts';
import { QUERIES } from '../storage/queries/catalogue.ts';
import type { StoreQueries } from '../storage/queries/catalogue.ts';
import { withEngine } from '../storage/queries/unbound.ts';
import type { Tables } from '../storage/schema.ts';
import { sqliteDialect } from '../storage/sqlite/dialect.ts';
import { sqliteEngine } from '../storage/sqlite/engine.ts';

/** All queries on an SQLite database in memory, for tests of rules that need thousands of rounds. Nothing in it survives. */
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
