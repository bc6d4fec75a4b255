import { sql } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Database, DatabaseTransaction } from '../schema.ts';
import { StorageProblem } from '../storage-problem.ts';
import { MIGRATIONS } from './list.ts';
import type { Migration } from './migration.ts';

/**
 * Updates the schema. Each migration runs in its own transaction together with its version row, so the next start
 * continues after a crash. Safe for parallel processes. @throws StorageProblem when a newer version wrote the database;
 * nothing is changed.
 */
export async function migrate(
  db: Database,
  engine: Engine,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const newest = Math.max(...migrations.map((migration) => migration.version));
  // Read before any write: a newer database is left unchanged.
  const version = (await engine.tableExists(db, 'schema_version')) ? await versionOf(db, newest) : 0;
  if (version === newest) return;
  await db.transaction().execute(async (transaction) => {
    // Two processes that create the same table at once conflict, even with `if not exists`.
    await engine.lockForMigration(transaction);
    await sql`create table if not exists schema_version (version integer primary key, applied_at bigint not null)`.execute(
      transaction,
    );
  });
  for (const migration of migrations) {
    await db.transaction().execute(async (transaction) => {
      await engine.lockForMigration(transaction);
      if ((await versionOf(transaction, newest)) >= migration.version) return;
      await migration.up(transaction, engine);
      await sql`insert into schema_version (version, applied_at) values (${migration.version}, ${Date.now()})`.execute(
        transaction,
      );
    });
  }
}

/** The schema's version. @throws StorageProblem when it is newer than this program. */
async function versionOf(db: Database | DatabaseTransaction, newest: number): Promise<number> {
  const { rows } = await sql<{ version: number | null }>`select max(version) as version from schema_version`.execute(
    db,
  );
  const version = rows[0]?.version ?? 0;
  if (version > newest) throw new StorageProblem(newerDatabase(version, newest));
  return version;
}

function newerDatabase(version: number, known: number): string {
  return `The database was written by a newer version of Creel (schema ${version}, this version knows ${known}). Start the newer version, or restore a backup.`;
}
