import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { runStatement } from '../../../fixtures/postgres-client.ts';
import { testDatabaseUrl } from '../../../scripts/test-database.ts';

/** A separate database, so that no test sees another's rows. */
export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/** Creates a database on the PostgreSQL of the test run. */
export async function createTestDatabase() {
  const server = await testDatabaseUrl();
  const name = `creel_test_${randomBytes(6).toString('hex')}`;
  await runStatement(server, `create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const run = (text: string) => runStatement(url.href, text);
  // Other test files use other databases of the same server.
  const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return {
    url: url.href,
    name,
    /** Runs a statement in this database as the server's owner, beside the store. */
    run,
    /** Begins a transaction beside the store, which keeps the locks of these statements until `commit`. */
    async hold(...statements: readonly string[]) {
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => undefined);
      await client.connect();
      for (const statement of ['begin', ...statements]) await client.query(statement);
      const commit = async (): Promise<void> => {
        await client.query('commit');
        await client.end();
      };
      return { commit };
    },
    /** Resolves when this many of its sessions wait for a lock. */
    untilBlocked: (sessions: number) =>
      vi.waitFor(async () => expect(await run(blocked)).toHaveLength(sessions), { timeout: 100_000 }),
    remove: async () => void (await runStatement(server, `drop database if exists ${name} with (force)`)),
  };
}
