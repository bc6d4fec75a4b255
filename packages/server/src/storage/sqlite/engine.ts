import { sql } from 'kysely';
import type { Engine } from '../engine.ts';

/** SQLite's own words. */
export const sqliteEngine: Engine = {
  name: 'sqlite',
  bytesType: 'blob',
  idType: sql`integer primary key autoincrement`,
  contains: (bytes, needle) => sql<boolean>`instr(cast(lower(cast(${bytes} as text)) as blob), ${needle}) > 0`,
  afterFirstLine: (bytes) => sql<Uint8Array>`substr(${bytes}, instr(${bytes}, x'0a') + 1)`,
  async takeSavedIds(transaction, count) {
    const row = await transaction
      .updateTable('counters')
      .set({ value: sql`value + ${count}` })
      .where('name', '=', 'saved_id')
      .returning('value')
      .executeTakeFirstOrThrow();
    return Array.from({ length: count }, (_, nth) => row.value - count + 1 + nth);
  },
  async tableExists(db, name) {
    const { rows } = await sql`select 1 from sqlite_schema where type = 'table' and name = ${name}`.execute(db);
    return rows.length > 0;
  },
  async lockForMigration(transaction) {
    // The first write of a transaction takes SQLite's write lock; every other process waits for it here.
    await sql`pragma user_version = 0`.execute(transaction);
  },
};
