import type { Bus } from '../src/bus/bus.ts';
import { createTestDatabase } from './test-database.ts';
import type { TestDatabase } from './test-database.ts';
import { createTestClient } from './test-client.ts';
import type { TestClient } from './test-client.ts';
import { startTestServer } from './test-server.ts';
import type { TestPerson, TestServer } from './test-server.ts';

/** Two servers with one database. */
export interface TwoNodes {
  readonly a: TestServer;
  readonly b: TestServer;
  readonly database: TestDatabase;
  /** The same browser at the other server. */
  readonly atB: (person: TestPerson) => TestClient;
  readonly stop: () => Promise<void>;
}

export async function startTwoNodes(
  settings: Readonly<Record<string, string>> = {},
  buses: readonly Bus[] = [],
): Promise<TwoNodes> {
  const database = await createTestDatabase();
  const options = { settings: { DEFAULT_TIER: 'PREMIUM', DATABASE_URL: database.url, ...settings } };
  const a = await startTestServer({ ...options, bus: buses[0] });
  const b = await startTestServer({ ...options, bus: buses[1] });
  return {
    a,
    b,
    database,
    atB: ({ client }) => createTestClient(b.origin, {}, client.jar),
    async stop() {
      await Promise.all([a.stop(), b.stop()]);
      await database.remove();
    },
  };
}
