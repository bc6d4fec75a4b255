import { sql } from 'kysely';
import type { Engine } from '../engine.ts';

/** SQLite's own words. */
export const sqliteEngine: Engine = {
  name: 'sqlite',
  bytesType: 'blob',
  idType: sql`integer primary key autoincrement`,
  contains: (column, needle) => sql<boolean>`instr(cast(lower(cast(${column} as text)) as blob), ${needle}) > 0`,
  async takeSavedIds(transaction, count) {
    const row = await transaction
      .updateTable('counters')
      .set({ value: sql`value + ${count}` })
      .where('name', '=', 'saved_id')
      .returning('value')
      .executeTakeFirstOrThrow();
    return Array.from({ length: count }, (_, nth) => row.value - count + 1 + nth);
  },
  async lockForMigration(transaction) {
    // The first write of a transaction takes SQLite's write lock; every other process waits for it here.
    await sql`delete from schema_version where version < 0`.execute(transaction);
  },
};
