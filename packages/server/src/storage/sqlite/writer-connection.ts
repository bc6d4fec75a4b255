import { Kysely } from 'kysely';
import type { DatabaseSync } from 'node:sqlite';
import { migrate } from '../migrations/migrate.ts';
import type { Database, Tables } from '../schema.ts';
import { sqliteDialect } from './dialect.ts';
import { sqliteEngine } from './engine.ts';
import { claimDataDir, openWriter } from './open-database.ts';

/** The one connection that writes to a data folder. */
export interface WriterConnection {
  readonly raw: DatabaseSync;
  readonly db: Database;
  /** Lets the folder go. The database is closed by whoever works with it. */
  readonly release: () => void;
}

/** Claims a data folder, opens its database and brings it up to date. @throws StorageProblem, and then nothing was changed */
export async function openWriterConnection(dataDir: string): Promise<WriterConnection> {
  const lock = claimDataDir(dataDir);
  try {
    const raw = openWriter(dataDir);
    try {
      const db = new Kysely<Tables>({ dialect: sqliteDialect(raw) });
      await migrate(db, sqliteEngine);
      return { raw, db, release: () => lock.close() };
    } catch (error) {
      raw.close();
      throw error;
    }
  } catch (error) {
    lock.close();
    throw error;
  }
}
