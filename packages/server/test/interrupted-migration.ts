import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../src/database/engine.ts';
import { MIGRATIONS, migrate } from '../src/database/migrations/migrate.ts';
import type { Migration } from '../src/database/migrations/migration.ts';
import { SESSIONS, openDatabase } from '../src/database/postgres/session.ts';
import { sqliteDatabase } from '../src/database/sqlite/engine.ts';
import { openWriter } from '../src/database/sqlite/open-database.ts';

/**
 * A process to be killed during a migration: `node interrupted-migration.ts <data folder or URL> <version>`. The
 * migration of that version creates its tables and then, still inside its transaction, prints `halfway` and waits.
 */
const [place = '', version = ''] = process.argv.slice(2);

async function halfway(db: Parameters<Migration['up']>[0], engine: Engine, up: Migration['up']): Promise<void> {
  await up(db, engine);
  process.stdout.write('halfway\n');
  await sleep(60_000);
}

const db = place.startsWith('postgres') ? openDatabase(place, SESSIONS.migration) : sqliteDatabase(openWriter(place));

const afterAll: Migration = {
  version: (MIGRATIONS.at(-1)?.version ?? 0) + 1,
  up: async (transaction) => void (await sql`create table later (id integer)`.execute(transaction)),
};
await migrate(
  db,
  [...MIGRATIONS, afterAll].map((migration) =>
    migration.version === Number(version)
      ? { ...migration, up: (transaction, of) => halfway(transaction, of, migration.up) }
      : migration,
  ),
);
