import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { captureMany, indexesOf, someEndpoint } from '../../../test/store-world.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import { openPostgresStore } from './postgres-store.ts';

// Nodes keep working while another one, of the next version, changes the tables.

let database: TestDatabase;
let store: AppStore;
let migration: pg.Client;
let endpointId: number;

beforeEach(async () => {
  database = await createTestDatabase();
  store = await openPostgresStore(database.url, QUERIES);
  migration = new pg.Client({ connectionString: database.url });
  await migration.connect();
  // A session looks for a deadlock after a while and ends itself. Here the store's session is always the one.
  await migration.query("set deadlock_timeout = '1min'");
  ({ id: endpointId } = await someEndpoint(store));
  await captureMany(store, endpointId, 2);
});

afterEach(async () => {
  await migration.end();
  await store.close();
  await database.remove();
});

const alter = (table: string) => migration.query(`alter table ${table} add column note text`);

describe('a deadlock with the migration', () => {
  test('a read is repeated', async () => {
    await migration.query('begin');
    await alter('endpoints');
    const reading = store.listDeliveryStates(endpointId, [0, 1]);
    await database.untilBlocked(1);
    await alter('captured_requests');
    await migration.query('commit');
    expect(indexesOf(await reading)).toEqual([0, 1]);
  });

  test('a write is repeated', async () => {
    await migration.query('begin');
    await alter('captured_requests');
    const deleting = store.deleteRequest(endpointId, { index: 0 });
    await database.untilBlocked(1);
    await alter('endpoints');
    await migration.query('commit');
    expect(await deleting).toBe(true);
  });

  test('a batch is repeated, and stored once', async () => {
    await store.saveRequest(endpointId, 0, { maxSaved: 100, bodyBytes: 0 });
    await migration.query('begin');
    await alter('captured_requests');
    const writing = captureMany(store, endpointId, 2);
    await database.untilBlocked(1);
    await alter('endpoints');
    await migration.query('commit');
    expect(indexesOf(await writing)).toEqual([2, 3]);
    expect(await database.run('select 1 from captured_requests')).toHaveLength(4);
  });
});

test('a batch is written although a prepared statement no longer fits its table', async () => {
  await migration.query('alter table endpoints alter column saved_count type integer');
  expect(indexesOf(await captureMany(store, endpointId, 2))).toEqual([2, 3]);
});
