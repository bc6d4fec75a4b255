import { afterAll } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import { openPatientStore } from '../../../test/patient-store.ts';
import { createTestDatabase } from '../../../test/test-database.ts';

const database = await createTestDatabase();
const store = await openPatientStore(database.url);
afterAll(async () => {
  await store.close();
  await database.remove();
});
storeSuite('PostgreSQL', store);
