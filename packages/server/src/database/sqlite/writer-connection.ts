import { Kysely } from 'kysely';
import type { DatabaseSync } from 'node:sqlite';
import { migrate } from '../migrations/migrate.ts';
import type { Database, Tables } from '../schema.ts';
import { StorageProblem } from '../storage-problem.ts';
import type { CaptureStatements } from '../write-captures.ts';
import { sqliteCaptureStatements } from './capture-statements.ts';
import { sqliteDialect, sqliteEngine } from './engine.ts';
import { claimDataDir, databaseFile, openWriter } from './open-database.ts';
import { makeRoomToOpen } from './reserve-file.ts';

/** The only connection that writes to a data folder. */
export interface WriterConnection {
  readonly raw: DatabaseSync;
  readonly db: Database;
  readonly statements: CaptureStatements;
  /** Releases the folder. The caller closes the database. */
  readonly release: () => void;
}

/** Claims a data folder, opens its database and migrates it. @throws StorageProblem; then nothing was changed */
export async function openWriterConnection(dataDir: string): Promise<WriterConnection> {
  const lock = claimDataDir(dataDir);
  try {
    makeRoomToOpen(dataDir);
    const raw = openWriter(dataDir);
    try {
      const db = new Kysely<Tables>({ dialect: sqliteDialect(raw) });
      await migrate(db, sqliteEngine);
      return { raw, db, statements: statementsOf(raw, dataDir), release: () => lock.close() };
    } catch (error) {
      raw.close();
      throw error;
    }
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Preparing the statements proves that the tables match the version. @throws StorageProblem */
function statementsOf(raw: DatabaseSync, dataDir: string): CaptureStatements {
  try {
    return sqliteCaptureStatements(raw);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StorageProblem(
      `The tables of the database ${databaseFile(dataDir)} are not those of its version (${reason}). Nothing was changed. Restore a backup, or set DATA_DIR to another folder.`,
    );
  }
}
