import { expect, test } from 'vitest';
import { openSqliteStore } from '../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../queries.ts';
import { startTestServer } from '../../test/test-server.ts';

test('concurrent calls of /readyz share a check, because captures wait for its commit', async () => {
  const gate = Promise.withResolvers<void>();
  let checks = 0;
  await using server = await startTestServer({
    openStore: async (dataDir) => {
      const store = await openSqliteStore(dataDir, QUERIES);
      const checkWritable = async (): Promise<void> => {
        checks += 1;
        await gate.promise;
        await store.checkWritable();
      };
      return { ...store, checkWritable };
    },
  });
  const ready = async (): Promise<number> => (await fetch(`${server.origin}/readyz`)).status;
  const calls = Array.from({ length: 20 }, ready);
  await expect.poll(() => checks).toBe(1);
  // Most calls have arrived when another one, which is sent after them, is answered.
  await fetch(`${server.origin}/healthz`);
  gate.resolve();
  expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
  expect(checks).toBeLessThan(20);
  const before = checks;
  expect(await ready()).toBe(200);
  expect(checks).toBe(before + 1);
});
