import { Kysely, PostgresDialect, sql } from 'kysely';
import { MIGRATIONS } from '../src/database/migrations/list.ts';
import { migrate } from '../src/database/migrations/migrate.ts';
import type { Migration } from '../src/database/migrations/migration.ts';
import { postgresEngine } from '../src/database/postgres/engine.ts';
import { SESSIONS, openPool } from '../src/database/postgres/session.ts';
import type { Tables } from '../src/database/schema.ts';

/** Starts the server as a later version would: with one more migration, which accepts the current version. */
const current = MIGRATIONS.at(-1)?.version ?? 0;
const next: Migration = {
  version: current + 1,
  compatibleSince: current,
  async up(db) {
    await sql`alter table endpoints add column color text not null default ''`.execute(db);
    await sql`alter table captured_requests add column note text`.execute(db);
    await sql`create table colors (name text primary key)`.execute(db);
  },
};

const pool = openPool(process.env['DATABASE_URL'] ?? '', SESSIONS.migration);
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
await migrate(db, postgresEngine, [...MIGRATIONS, next]);
await db.destroy();
await import('../src/main.ts');
