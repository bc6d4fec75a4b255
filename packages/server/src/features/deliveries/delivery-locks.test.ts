import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPostgresStore } from '../../database/postgres/postgres-store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import type { MatchedCaptures } from './match-queries.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import { T0, captureMany, indexesOf, someEndpoint } from '../../../test/store-world.ts';

/** On PostgreSQL, captures and deliveries of an endpoint are written at the same time. */
let database: TestDatabase;
let store: AppStore;
let holder: pg.Client;
let endpointId: number;
let destinationId: number;

beforeEach(async () => {
  database = await createTestDatabase();
  store = await openPostgresStore(database.url, QUERIES);
  holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  ({ id: endpointId } = await someEndpoint(store));
  const fields = { url: 'http://127.0.0.1:9/', appendPath: false, enabled: true, query: '', sign: false };
  const created = await store.createDestination(endpointId, fields, { now: T0, limit: 5 });
  destinationId = typeof created === 'object' ? created.id : 0;
  await captureMany(store, endpointId, 3);
});

afterEach(async () => {
  await holder.end();
  await store.close();
  await database.remove();
});

/** Holds the destination, so that what plans or records its deliveries stops halfway. */
async function holdDestination(): Promise<void> {
  await holder.query('begin');
  await holder.query(`select 1 from destinations where id = ${destinationId} for update`);
}

async function untilWaiting(count: number): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await vi.waitFor(async () => expect(await database.run(waiting)).toHaveLength(count), { timeout: 10_000 });
}

async function match(): Promise<MatchedCaptures> {
  const matched = await store.matchCaptures(endpointId, { mark: 'mark', secret: 'secret' }, 100);
  if (matched === undefined) throw new Error('Nothing to plan.');
  return matched;
}

const plan = (matched: MatchedCaptures) => store.planCaptures(endpointId, matched, { now: T0, maxPending: 100 });

test('captures go on while deliveries are planned, and the deletion of a request waits for the plan', async () => {
  const matched = await match();
  await holdDestination();
  const planning = plan(matched);
  await untilWaiting(1);
  expect(indexesOf(await captureMany(store, endpointId, 1))).toEqual([3]);
  const deleting = store.deleteRequest(endpointId, { index: 0 });
  await untilWaiting(2);
  await holder.query('commit');
  expect(await planning).toMatchObject({ planned: [0, 1, 2] });
  expect(await deleting).toBe(true);
  expect(await store.listDestinations(endpointId)).toMatchObject([{ pending: 2 }]);
  expect(await plan(await match())).toMatchObject({ planned: [3] });
});

test('captures go on while a failed attempt is recorded', async () => {
  await plan(await match());
  const due = await store.dueDeliveries(destinationId, [], { now: T0 + 1000, limit: 1 });
  const [delivery] = due?.deliveries ?? [];
  await holdDestination();
  const recording = store.recordAttempts(
    [
      {
        endpointId,
        index: delivery?.index ?? -1,
        deliveryId: delivery?.id ?? '',
        kind: 'forward',
        destinationId,
        url: 'http://127.0.0.1:9/',
        method: 'POST',
        attempt: 1,
        status: null,
        statusText: '',
        error: 'The connection was refused.',
        durationMs: 1,
        at: T0,
        nextAttemptAt: T0 + 5000,
        responseHeaders: [],
        responseBody: null,
        responseTruncated: false,
      },
    ],
    T0,
  );
  await untilWaiting(1);
  expect(indexesOf(await captureMany(store, endpointId, 1))).toEqual([3]);
  await holder.query('commit');
  expect(await recording).toMatchObject([{ index: 0, state: { isPending: true } }]);
  const later = await store.dueDeliveries(destinationId, [], { now: T0 + 5000, limit: 100 });
  expect(later?.deliveries.map(({ index, attempts }) => [index, attempts])).toEqual([
    [1, 0],
    [2, 0],
    [0, 1],
  ]);
});
