import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { serverProgram } from '../../../fixtures/server-program.ts';
import { MIGRATIONS } from '../src/database/migrations/migrate.ts';
import type { Migration } from '../src/database/migrations/migration.ts';
import { migratePostgres } from '../src/database/postgres/postgres-store.ts';
import { SESSIONS } from '../src/database/postgres/session.ts';

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

await migratePostgres(process.env['DATABASE_URL'] ?? '', SESSIONS.migration, { migrations: [...MIGRATIONS, next] });
await import(pathToFileURL(serverProgram).href);
