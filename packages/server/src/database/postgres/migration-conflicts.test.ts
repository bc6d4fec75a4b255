import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { openPatientStore } from '../../../test/patient-store.ts';
import { captureMany, indexesOf, someEndpoint } from '../../../test/store-world.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import type { DatabaseTransaction } from '../schema.ts';
import { MIGRATIONS } from '../migrations/migrate.ts';
import { migratePostgres } from './postgres-store.ts';
import { SESSIONS } from './session.ts';

// Nodes keep working while another one, of the next version, changes the tables.

let database: TestDatabase;
let store: AppStore;
let migration: pg.Client;
let holder: pg.Client;
let endpointId: number;

beforeEach(async () => {
  database = await createTestDatabase();
  store = await openPatientStore(database.url);
  migration = new pg.Client({ connectionString: database.url });
  holder = new pg.Client({ connectionString: database.url });
  await Promise.all([migration.connect(), holder.connect()]);
  // A session that finds a deadlock ends itself. Here the store's session is always the one.
  await migration.query("set deadlock_timeout = '1min'");
  ({ id: endpointId } = await someEndpoint(store));
  await captureMany(store, endpointId, 2);
});

afterEach(async () => {
  await Promise.all([migration.end(), holder.end()]);
  await store.close();
  await database.remove();
});

const alter = (table: string) => migration.query(`alter table ${table} add column note text`);

interface Conflict<T> {
  /** The store waits for it after it has locked `first`, and before it locks `next`. */
  readonly gate: string;
  readonly first: string;
  readonly next: string;
  readonly call: () => Promise<T>;
}

/**
 * Runs a call of the store that gets into a deadlock with the migration. A session looks for a deadlock once, a second
 * after its wait began. So the wait of the store is the one that completes the deadlock.
 */
async function inDeadlock<T>({ gate, first, next, call }: Conflict<T>): Promise<T> {
  await holder.query(`begin; ${gate}`);
  const calling = call();
  await database.untilBlocked(1);
  await migration.query('begin');
  await alter(next);
  const altering = alter(first);
  await database.untilBlocked(2);
  await holder.query('commit');
  await altering;
  await migration.query('commit');
  return calling;
}

describe('a deadlock with the migration', () => {
  const gateOfWrites = () => `select 1 from endpoints where id = ${endpointId} for update`;

  test('a read is repeated', async () => {
    const gate = 'lock table deliveries in access exclusive mode';
    const call = () => store.listDeliveryStates(endpointId, [0, 1]);
    const states = await inDeadlock({ gate, first: 'captured_requests', next: 'endpoints', call });
    expect(indexesOf(states)).toEqual([0, 1]);
  });

  test('a write is repeated', async () => {
    const call = () => store.deleteRequest(endpointId, { index: 0 });
    const conflict = { gate: gateOfWrites(), first: 'endpoints', next: 'captured_requests', call };
    expect(await inDeadlock(conflict)).toBe(true);
  });

  test('a batch is repeated, and stored once', async () => {
    await store.saveRequest(endpointId, 0, { maxSaved: 100, bodyBytes: 0 });
    const call = () => captureMany(store, endpointId, 2);
    const conflict = { gate: gateOfWrites(), first: 'endpoints', next: 'captured_requests', call };
    expect(indexesOf(await inDeadlock(conflict))).toEqual([2, 3]);
    expect(await database.run('select 1 from captured_requests')).toHaveLength(4);
  });
});

test('a migration that waits for a table in use lets go of the others meanwhile, and says once that it waits', async () => {
  const search = await database.hold('lock table captured_requests in access share mode');
  // A lookup is late after 2 s, and a capture's sender gets 503 then.
  await holder.query(`set lock_timeout = '800ms'`);
  const next = {
    version: 1000,
    async up(db: DatabaseTransaction) {
      await sql`alter table endpoints add column color text`.execute(db);
      await sql`alter table captured_requests add column note text`.execute(db);
    },
  };
  let isMigrated = false;
  const onTablesInUse = vi.fn<() => void>();
  const options = { migrations: [...MIGRATIONS, next], onTablesInUse };
  const migrating = migratePostgres(database.url, SESSIONS.migration, options);
  const migrated = migrating.finally(() => (isMigrated = true));
  await database.untilBlocked(1);
  for (let lookups = 0; lookups < 40; lookups++) {
    await holder.query('select id from endpoints');
    await setTimeout(25);
  }
  expect(isMigrated).toBe(false);
  expect(onTablesInUse).toHaveBeenCalledTimes(1);
  await search.commit();
  await migrated;
  expect(await database.run('select color from endpoints')).toHaveLength(1);
});

test('a batch is written although a prepared statement no longer fits its table', async () => {
  await migration.query('alter table endpoints alter column saved_count type integer');
  expect(indexesOf(await captureMany(store, endpointId, 2))).toEqual([2, 3]);
});
