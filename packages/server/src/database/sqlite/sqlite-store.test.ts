import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
