import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { openDatabase as openPostgres } from '../database/postgres/run-query.ts';
import { SESSIONS } from '../database/postgres/session.ts';
import { startProblem } from '../database/postgres/start-problem.ts';
import type { Database, Tables } from '../database/schema.ts';
import { sqliteDialect } from '../database/sqlite/dialect.ts';
import { databaseFile } from '../database/sqlite/open-database.ts';
import type { AdminConfig } from './commands.ts';
import { expectDatabase } from './sqlite-files.ts';

/** How long a write waits for the running server's. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Runs `work` on the configured database, beside a running server. @throws AdminProblem, StorageProblem if it can't be opened
 */
export async function withDatabase<Result>(
  config: AdminConfig,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl } = config;
  if (databaseUrl !== undefined) {
    const db = openPostgres(databaseUrl, SESSIONS.migration);
    try {
      return await work(db);
    } catch (error) {
      throw startProblem(error, databaseUrl);
    } finally {
      await db.destroy();
    }
  }
  const file = databaseFile(config.dataDir);
  expectDatabase(file);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
