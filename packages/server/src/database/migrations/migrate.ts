import { sql } from 'kysely';
import type { EngineDatabase } from '../remote.ts';
import type { Database, DatabaseTransaction } from '../schema.ts';
import { StorageProblem } from '../store.ts';
import type { Migration } from './migration.ts';
import { first } from './0001-first.ts';
import { accounts } from './0002-accounts.ts';
import { usernameKeys } from './0003-username-keys.ts';
import { expiryNotices } from './0004-expiry-notices.ts';
import { billing } from './0005-billing.ts';
import { droppedCount } from './0006-dropped-count.ts';
import { deliveries } from './0007-deliveries.ts';
import { signingSecrets } from './0008-signing-secrets.ts';
import { captureBatches } from './0009-capture-batches.ts';
import { recentStatuses } from './0010-recent-statuses.ts';
import { sharpS } from './0011-sharp-s.ts';

/** Every migration, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  first,
  accounts,
  usernameKeys,
  expiryNotices,
  billing,
  droppedCount,
  deliveries,
  signingSecrets,
  captureBatches,
  recentStatuses,
  sharpS,
];

/**
 * Updates the schema, unless it is newer and this program can use it. Safe for parallel processes, and after a crash
 * the next start continues. PostgreSQL waits for a table in use for `tableMs` milliseconds, and then reports an error.
 * @throws StorageProblem when the database needs a newer program; nothing is changed
 */
export async function migrate(
  db: EngineDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
  tableMs = 0,
): Promise<void> {
  const { engine } = db;
  const newest = Math.max(...migrations.map((migration) => migration.version));
  // Read before any write: a newer database is left unchanged.
  const version = (await engine.tableExists(db, 'schema_version')) ? await versionOf(db, newest) : 0;
  if (version >= newest) return;
  await db.transaction().execute(async (transaction) => {
    // Two processes that create the same table at once conflict, even with `if not exists`.
    await engine.lockForMigration(transaction, tableMs);
    await sql`create table if not exists schema_version (version integer primary key, applied_at bigint not null)`.execute(
      transaction,
    );
  });
  for (const migration of migrations) {
    await db.transaction().execute(async (transaction) => {
      await engine.lockForMigration(transaction, tableMs);
      if ((await versionOf(transaction, newest)) >= migration.version) return;
      await migration.up(transaction, engine);
      await addVersion(transaction, migration);
    });
  }
}

async function addVersion(db: DatabaseTransaction, { version, compatibleSince }: Migration): Promise<void> {
  await sql`insert into schema_version (version, applied_at) values (${version}, ${Date.now()})`.execute(db);
  if (compatibleSince !== undefined)
    await sql`update schema_version set compatible_since = ${compatibleSince} where version = ${version}`.execute(db);
}

/** A row of `schema_version`. The last column exists since version 9; null means only programs of this version. */
interface VersionRow {
  readonly version: number;
  readonly compatible_since?: number | null;
}

/** The schema's version. @throws StorageProblem when it needs a newer program. */
async function versionOf(db: Database, newest: number): Promise<number> {
  const { rows } = await sql<VersionRow>`select * from schema_version order by version`.execute(db);
  const version = rows.at(-1)?.version ?? 0;
  const needed = rows.filter((row) => row.version > newest).map((row) => row.compatible_since ?? row.version);
  if (needed.some((since) => since > newest)) throw new StorageProblem(newerDatabase(version, newest));
  return version;
}

function newerDatabase(version: number, known: number): string {
  return `The database was written by a newer version of Creel (schema ${version}, this version knows ${known}). Start the newer version, or restore a backup.`;
}
