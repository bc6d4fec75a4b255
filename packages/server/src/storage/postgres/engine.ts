import { sql } from 'kysely';
import type { Engine } from '../engine.ts';
import { escapeFormat, mayMatchInsideEscape, wholeMatchPattern } from './escape-format.ts';

/** Any number: it only has to be the same in every Creel, and its locks are seen within one database. */
const MIGRATION_LOCK = 4_127_358_906;

/** PostgreSQL's own words. */
export const postgresEngine: Engine = {
  name: 'postgres',
  bytesType: 'bytea',
  idType: sql`bigint generated always as identity primary key`,
  contains(bytes, needle) {
    // Text can't hold NUL or invalid UTF-8, and bytes know no case: so both are looked at in the escape format, in plain ASCII.
    const text = sql<string>`lower(encode(${bytes}, 'escape') collate "C")`;
    const escaped = escapeFormat(needle);
    const found = sql<boolean>`position(cast(${escaped} as text) in ${text}) > 0`;
    if (!mayMatchInsideEscape(escaped)) return found;
    return sql<boolean>`(case when ${found} then replace(${text}, '\\\\', '\\134') ~ cast(${wholeMatchPattern(escaped)} as text) else false end)`;
  },
  afterFirstLine: (bytes) => sql<Uint8Array>`substr(${bytes}, position('\\x0a'::bytea in ${bytes}) + 1)`,
  async takeSavedIds(transaction, count) {
    const { rows } = await sql<{
      id: number;
    }>`select nextval('saved_request_ids') as id from generate_series(1, ${count})`.execute(transaction);
    return rows.map((row) => row.id);
  },
  async tableExists(db, name) {
    const { rows } = await sql<{ found: boolean }>`select to_regclass(${name}) is not null as found`.execute(db);
    return rows[0]?.found === true;
  },
  async lockForMigration(transaction) {
    // Another process may migrate for as long as it takes; a table that is in use is waited for shortly, since captures queue up behind us.
    await sql`set local lock_timeout = 0`.execute(transaction);
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
    await sql`set local lock_timeout = '1s'`.execute(transaction);
  },
};
