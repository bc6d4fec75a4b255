import { afterAll } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import { openPostgresStore } from './postgres-store.ts';
import { QUERIES } from '../../queries.ts';
import { createTestDatabase } from '../../../test/test-database.ts';

const database = await createTestDatabase();
const store = await openPostgresStore(database.url, QUERIES);
afterAll(async () => {
  await store.close();
  await database.remove();
});
storeSuite('PostgreSQL', store);
