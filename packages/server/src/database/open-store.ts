import { openPostgresStore } from './postgres/postgres-store.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

/**
 * Opens the configured store: PostgreSQL by URL, otherwise the SQLite file in the data folder. @throws StorageProblem
 */
export function openStore(config: {
  readonly databaseUrl?: string | undefined;
  readonly dataDir: string;
}): Promise<Store> {
  return config.databaseUrl === undefined ? openSqliteStore(config.dataDir) : openPostgresStore(config.databaseUrl);
}
