import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPatientStore } from '../../../test/patient-store.ts';
import type { AppStore } from '../../queries.ts';
import {
  DAY,
  anyPlan,
  captureMany,
  expectCounted,
  everything,
  indexesOf,
  someEndpoint,
} from '../../../test/store-world.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';

// A batch does not lock its endpoints first while no other transaction changes them. Other changes lock their user first.

const LIMITS = { maxUnsaved: 6, maxSaved: 100 };

let database: TestDatabase;
let one: AppStore;
let other: AppStore;

beforeEach(async () => {
  database = await createTestDatabase();
  [one, other] = [await openPatientStore(database.url), await openPatientStore(database.url)];
});

afterEach(async () => {
  await one.close();
  await other.close();
  await database.remove();
});

async function endpointWithBatches(count: number): Promise<{ readonly id: number; readonly uid: string }> {
  const endpoint = await someEndpoint(one);
  for (let nth = 0; nth < count; nth++) await captureMany(one, endpoint.id, 2, LIMITS);
  return endpoint;
}

test('a batch waits for a transaction that saves a request, and does not trim that request', async () => {
  const { id, uid } = await endpointWithBatches(3);
  const holder = await database.hold(
    `update endpoints set saved_count = 1, unsaved_count = unsaved_count - 1 where id = ${id}`,
    `update captured_requests set saved_id = nextval('saved_request_ids') where key = ${id}::bigint << 32`,
  );
  const writing = captureMany(one, id, 3, LIMITS);
  await database.untilBlocked(1);
  await holder.commit();
  expect(indexesOf(await writing)).toEqual([6, 7, 8]);
  expect(indexesOf(await everything(one, id))).toEqual([8, 7, 6, 5, 4, 3, 0]);
  await expectCounted(one, uid);
});

test('a batch trims a request whose delivery ends while the batch waits', async () => {
  const { id, uid } = await someEndpoint(one);
  const key = `${id}::bigint << 32`;
  await database.run(`insert into destinations (endpoint_id, url, append_path, enabled, query, sign, from_index, created_at)
    values (${id}, 'https://example.com/', 0, 1, '', 0, 0, 0)`);
  await database.run(`update endpoints set has_deliveries = 1, planned_to = 1000 where id = ${id}`);
  await database.run(`insert into deliveries (id, request_key, destination_id, attempts, next_attempt_at)
    select 'some', ${key}, id, 0, 0 from destinations where endpoint_id = ${id}`);
  for (let nth = 0; nth < 3; nth++) await captureMany(one, id, 2, LIMITS);
  const holder = await database.hold(
    `select 1 from endpoints where id = ${id} for no key update`,
    `delete from deliveries where request_key = ${key}`,
  );
  const writing = captureMany(one, id, 1, LIMITS);
  await database.untilBlocked(1);
  await holder.commit();
  await writing;
  expect(indexesOf(await everything(one, id))).toEqual([6, 5, 4, 3, 2, 1]);
  await expectCounted(one, uid);
});

test.each<[string, (id: number) => Promise<unknown>, readonly number[], saved?: number]>([
  ['a batch of another node', (id) => captureMany(other, id, 1, LIMITS), [7, 8]],
  ['a saved request', (id) => other.saveRequest(id, 3, { maxSaved: 100, bodyBytes: 0 }), [6, 7]],
  ['a deleted request', (id) => other.deleteRequest(id, { index: 3 }), [6, 7]],
  ['a clear', (id) => other.clearRequests(id), [6, 7]],
  ['autosave', async (id) => other.changeEndpoint(id, { autosave: true }), [6, 7], 2],
])('a batch after %s has the right indexes and counters', async (_, change, indexes, saved = 0) => {
  const { id, uid } = await endpointWithBatches(3);
  await change(id);
  const stored = await captureMany(one, id, 2, LIMITS);
  expect(indexesOf(stored)).toEqual(indexes);
  expect(stored.filter(({ savedId }) => savedId > 0)).toHaveLength(saved);
  await expectCounted(one, uid);
});

test('a batch to an endpoint that was deleted meanwhile finds none', async () => {
  const endpoint = await endpointWithBatches(3);
  const another = await someEndpoint(one);
  await database.run(`delete from endpoints where id = ${endpoint.id}`);
  expect(indexesOf(await captureMany(one, endpoint.id, 1, LIMITS))).toEqual([-1]);
  expect(indexesOf(await captureMany(one, another.id, 1, LIMITS))).toEqual([0]);
});

test('two nodes and a user at once: no index is missing or used twice, and the counters are right', async () => {
  const { id, uid } = await endpointWithBatches(0);
  const indexes: number[] = [];
  const write = async (store: AppStore): Promise<void> => {
    for (let nth = 0; nth < 40; nth++) indexes.push(...indexesOf(await captureMany(store, id, 3, LIMITS)));
  };
  const use = async (): Promise<void> => {
    for (let nth = 0; nth < 40; nth++) {
      const [newest] = await everything(other, id);
      if (newest === undefined) continue;
      if (nth % 2 === 0) await one.saveRequest(id, newest.index, { maxSaved: 100, bodyBytes: 0 });
      else await other.deleteRequest(id, { index: newest.index });
    }
  };
  await Promise.all([write(one), write(other), use()]);
  expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 240 }, (_, nth) => nth));
  await expectCounted(one, uid);
});

test('removing the mark of a favorite, while another call sets it, removes it', async () => {
  const { id, uid, userId } = await someEndpoint(one);
  const holder = await database.hold(
    `select 1 from users where id = ${userId} for update`,
    `update endpoints set is_favorite = 1, expires_at = null where id = ${id}`,
  );
  const removing = one.changeEndpoint(id, { favorite: { on: false, now: 0, plans: anyPlan() } });
  await database.untilBlocked(1);
  await holder.commit();
  expect(await removing).toMatchObject({ uid, isFavorite: false, expiresAt: DAY });
});
