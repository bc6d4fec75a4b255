import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { QUERIES } from '../../queries.ts';

storeSuite('SQLite', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'creel-sqlite-'));
  const store = await openSqliteStore(dataDir, QUERIES);
  return {
    store,
    async remove() {
      await store.close();
      await rm(dataDir, { recursive: true });
    },
  };
});

test('a commit that did not wait for the disk is synced soon, by a write of its own', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'creel-sync-'));
  const store = await openSqliteStore(dataDir, QUERIES);
  const logBytes = async () => (await stat(join(dataDir, 'creel.db-wal'))).size;
  const before = await logBytes();
  // Changes no row, so that only the sync writes to the log.
  await store.settleDueAt(1);
  expect(await logBytes()).toBe(before);
  await expect.poll(logBytes, { timeout: 30_000 }).toBeGreaterThan(before);
  await store.close();
  await rm(dataDir, { recursive: true });
});
