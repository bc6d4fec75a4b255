import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The ids of recent batches, on PostgreSQL, and which older programs may use the schema. */
export const captureBatches: Migration = {
  version: 9,
  compatibleSince: 8,
  async up(db, engine) {
    await sql`alter table schema_version add column compatible_since integer`.execute(db);
    // A commit of SQLite is always answered.
    if (engine.name !== 'postgres') return;
    // The database's own clock, because clocks of nodes differ.
    await sql`create table capture_batches (id uuid primary key, receipts text not null,
      written_at timestamptz not null default clock_timestamp())`.execute(db);
    await sql`create index capture_batches_age on capture_batches (written_at)`.execute(db);
  },
};
