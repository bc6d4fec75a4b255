import type { Bus } from '../src/bus/bus.ts';
import { createTestDatabase } from './test-database.ts';
import { createTestClient } from './test-client.ts';
import { startTestServer } from './test-server.ts';
import type { TestPerson } from './test-server.ts';

export type TwoNodes = Awaited<ReturnType<typeof startTwoNodes>>;

/** Two servers with one database. */
export async function startTwoNodes(settings: Readonly<Record<string, string>> = {}, buses: readonly Bus[] = []) {
  const database = await createTestDatabase();
  const options = { settings: { DEFAULT_TIER: 'PREMIUM', DATABASE_URL: database.url, ...settings } };
  const a = await startTestServer({ ...options, bus: buses[0] });
  const b = await startTestServer({ ...options, bus: buses[1] });
  return {
    a,
    b,
    database,
    /** The same browser at the other server. */
    atB: ({ client }: TestPerson) => createTestClient(b.origin, {}, client.jar),
    async stop() {
      await Promise.all([a.stop(), b.stop()]);
      await database.remove();
    },
  };
}
