import { sql } from 'kysely';
import type { Expression, RawBuilder } from 'kysely';
import type { Engine } from '../engine.ts';

function bytesMayContain(bytes: Expression<Uint8Array | null>, needle: Uint8Array): RawBuilder<boolean> {
  return sql<boolean>`instr(cast(lower(cast(${bytes} as text)) as blob), ${needle}) > 0`;
}

/** SQL that is specific to SQLite. */
export const sqliteEngine: Engine = {
  name: 'sqlite',
  bytesType: 'blob',
  idType: sql`integer primary key autoincrement`,
  contains: (bytes, needle) => sql<boolean>`instr(${bytes}, ${needle}) > 0`,
  bytesMayContain,
  mayContain(body, inBody, head, inHead) {
    const sent = sql<Uint8Array>`substr(${head}, instr(${head}, x'0a') + 1)`;
    const all = (needles: readonly Uint8Array[]): RawBuilder<unknown> =>
      sql`(${sql.join(
        needles.map((needle) => bytesMayContain(sent, needle)),
        sql` and `,
      )})`;
    return sql<boolean>`(${sql.join([bytesMayContain(body, inBody), ...inHead.map(all)], sql` or `)})`;
  },
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
    // The first write of a transaction takes SQLite's write lock; other processes wait for it.
    await sql`pragma user_version = 0`.execute(transaction);
  },
};
