import { storeSuite } from '../store.suite.ts';
import { openPostgresStore } from './postgres-store.ts';
import { QUERIES } from '../../queries.ts';
import { createTestDatabase } from '../../../test/test-database.ts';

storeSuite('PostgreSQL', async () => {
  const database = await createTestDatabase();
  const store = await openPostgresStore(database.url, QUERIES);
  return {
    store,
    async remove() {
      await store.close();
      await database.remove();
    },
  };
});
