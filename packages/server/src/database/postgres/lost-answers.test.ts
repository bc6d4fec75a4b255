import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturePacker } from '../packed-captures.ts';
import type { PackedCaptures } from '../packed-captures.ts';
import { encodeHead } from '../stored-request.ts';
import { StorageUnavailable } from '../store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { openLink } from '../../../test/postgres-link.ts';
import type { Link } from '../../../test/postgres-link.ts';
import { heapInUse } from '../../../test/heap-in-use.ts';
import { openPatientStore } from '../../../test/patient-store.ts';
import { LIMITS, T0, capture, captureMany, everything, indexesOf, someEndpoint } from '../../../test/store-world.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import { openPostgresStore } from './postgres-store.ts';
import { SESSIONS, clientConfig, sessionSettings } from './session.ts';

let database: TestDatabase;
let link: Link;
const opened: AppStore[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  link = await openLink(database.url);
});

afterEach(async () => {
  link.mend();
  for (const store of opened.splice(0)) await store.close();
  await link.close();
  await database.remove();
});

const openUsual = (url: string): Promise<AppStore> => openPostgresStore(url, QUERIES);

async function open(url: string, openStore = openUsual): Promise<AppStore> {
  const store = await openStore(url);
  opened.push(store);
  return store;
}

function batchTo(endpointId: number, bodies: readonly string[], receivedAt = T0): PackedCaptures {
  const packer = new CapturePacker();
  for (const body of bodies)
    packer.add(endpointId, receivedAt, 'POST', encodeHead('/', '192.0.2.1', true, []), Buffer.from(body));
  return packer.take();
}

const rows = async (): Promise<number> =>
  Number((await database.run('select count(*) as rows from captured_requests'))[0]?.['rows']);

test('a commit whose answer is lost is answered with its indexes and saved ids, and stored once', async () => {
  const store = await open(link.url, openPatientStore);
  const { id } = await someEndpoint(store, { autosave: true });
  const [first] = await capture(store, [{ to: id, body: 'before' }]);
  // The statements reach PostgreSQL and the answers do not, from the commit on: nothing holds a lock.
  const holder = await database.hold('lock table captured_requests in exclusive mode');
  const writing = store.writeCaptures(batchTo(id, ['a', 'b']), LIMITS);
  await database.untilBlocked(1);
  link.mute();
  await holder.commit();
  await expect.poll(rows).toBe(3);
  link.refuse();
  link.mend();
  const { indexes, savedIds } = await writing;
  expect([...indexes]).toEqual([1, 2]);
  expect([...savedIds]).toEqual([(first?.savedId ?? 0) + 1, (first?.savedId ?? 0) + 2]);
  expect(indexesOf(await everything(store, id))).toEqual([2, 1, 0]);
});

test('a batch that is written again, also by another node at the same time, is stored once', async () => {
  const [one, other] = [await open(database.url), await open(database.url)];
  const { id } = await someEndpoint(one);
  const batch = batchTo(id, ['a', 'b', 'c']);
  await one.writeCaptures(batch, LIMITS);
  const next = [batch, batchTo(id, ['d']), batchTo(id, ['e', 'f'])];
  const [drained] = await Promise.all([one, other].map((store) => store.drain?.writeLogged(next, LIMITS, 4000)));
  expect(drained?.[0]?.outcome.indexes).toEqual(Float64Array.from([0, 1, 2]));
  expect(indexesOf(await everything(one, id))).toEqual([5, 4, 3, 2, 1, 0]);
});

test('PostgreSQL that answers nothing fails a batch within its time, and the next one works', async () => {
  const store = await open(link.url);
  const { id } = await someEndpoint(store);
  await captureMany(store, id, 1);
  link.cut();
  await expect(store.writeCaptures(batchTo(id, ['lost']), LIMITS, 500)).rejects.toThrow(StorageUnavailable);
  link.mend();
  expect(indexesOf(await captureMany(store, id, 1))).toEqual([1]);
});

test.each([
  ['has no room on its disk', '53100'],
  ['reports a failure of its disk', '58030'],
  ['is read-only', '25006'],
])('a batch is sent once if PostgreSQL answers that it %s', async (_, code) => {
  const store = await open(database.url);
  const { id } = await someEndpoint(store);
  await captureMany(store, id, 1);
  // A sequence keeps its value when a transaction is rolled back.
  await database.run(`create sequence attempts; create function refuse() returns trigger language plpgsql as
    $$ begin perform nextval('attempts'); raise exception 'the reason' using errcode = '${code}'; end $$`);
  await database.run('create trigger refuse before insert on captured_requests execute function refuse()');
  await expect(captureMany(store, id, 1)).rejects.toThrow('the reason');
  expect(await database.run('select last_value::int as attempts from attempts')).toEqual([{ attempts: 1 }]);
});

test('a node that freezes in a transaction blocks the others for two seconds at most', async () => {
  const store = await open(database.url);
  const { id } = await someEndpoint(store);
  // It has locked the endpoint, sends nothing more, and keeps its connection.
  const frozen = new pg.Client(clientConfig(database.url, SESSIONS.capture));
  frozen.on('error', () => undefined);
  await frozen.connect();
  await frozen.query(sessionSettings(SESSIONS.capture));
  await frozen.query('begin');
  await frozen.query(`select 1 from endpoints where id = ${id} for no key update`);
  let failures = 0;
  for (let stored = false; !stored;) {
    stored = await captureMany(store, id, 1).then(
      () => true,
      () => false,
    );
    if (!stored) failures += 1;
  }
  // A lock is waited for as long as a transaction may be idle, so one batch may fail and no second one.
  expect(failures).toBeLessThanOrEqual(1);
  expect(indexesOf(await everything(store, id))).toEqual([0]);
  await frozen.end();
});

test('times of an endpoint never decrease, although the clocks of two nodes differ', async () => {
  const [ahead, behind] = [await open(database.url), await open(database.url)];
  const { id } = await someEndpoint(ahead);
  await capture(ahead, [{ to: id, at: T0 + 60_000 }]);
  const late = batchTo(id, ['a', 'b']);
  const { receivedAt } = await behind.writeCaptures(late, LIMITS);
  expect([...(receivedAt ?? [])]).toEqual([T0 + 60_000, T0 + 60_000]);
  await capture(ahead, [{ to: id, at: T0 + 60_001 }]);
  const times = (await everything(ahead, id)).map((record) => record.receivedAt - T0);
  expect(times).toEqual([60_001, 60_000, 60_000, 60_000]);
});

test('the outcome of a batch is not kept after later ones', async () => {
  const store = await open(database.url);
  const { id } = await someEndpoint(store);
  const write = async () => new WeakRef((await store.writeCaptures(batchTo(id, ['a']), LIMITS)).indexes);
  const first = await write();
  await write();
  await write();
  heapInUse();
  expect(first.deref() === undefined).toBe(true);
});

test('ids of batches are deleted when they are old', async () => {
  const store = await open(database.url);
  const { id } = await someEndpoint(store);
  await captureMany(store, id, 1);
  await database.run(`update capture_batches set written_at = now() - interval '11 minutes'`);
  await captureMany(store, id, 1);
  await store.deleteOldBatches?.();
  expect(await database.run('select count(*) from capture_batches')).toEqual([{ count: '1' }]);
});

test('ids of batches from the overflow log are kept for a day', async () => {
  const store = await open(database.url);
  const { id } = await someEndpoint(store);
  const batch = batchTo(id, ['a']);
  await store.drain?.writeLogged([batch], LIMITS, 4000);
  await database.run(`update capture_batches set written_at = now() - interval '23 hours'`);
  await store.deleteOldBatches?.();
  await store.drain?.writeLogged([batch], LIMITS, 4000);
  expect(await rows()).toBe(1);
  await database.run(`update capture_batches set written_at = now() - interval '25 hours'`);
  await store.deleteOldBatches?.();
  expect(await database.run('select count(*) from capture_batches')).toEqual([{ count: '0' }]);
});

test('captures of the log do not go to an endpoint that was created after them, which has the id of a lost one', async () => {
  const store = await open(database.url);
  const { id } = await someEndpoint(store);
  const next = [batchTo(id, ['of another user'], T0 - 11_000), batchTo(id, ['its own, by a slow clock'], T0 - 9000)];
  const drained = await store.drain?.writeLogged(next, LIMITS, 4000);
  expect(drained?.map(({ outcome }) => [...outcome.indexes])).toEqual([[-1, 0]]);
  const [kept, ...others] = await everything(store, id);
  expect([String(kept?.body), others]).toEqual(['its own, by a slow clock', []]);
});

test('a batch does not wait longer than its own time for a check of the same connection, and is then not stored', async () => {
  const store = await open(link.url);
  const { id } = await someEndpoint(store);
  await capture(store, [{ to: id }]);
  link.cut();
  const check = store.checkWritable().catch(() => 'the check');
  const batch = store.writeCaptures(batchTo(id, ['late']), LIMITS, 100).catch((error: unknown) => error);
  expect(await Promise.race([check, batch])).toBeInstanceOf(StorageUnavailable);
  link.mend();
  await check;
  await capture(store, [{ to: id }]);
  expect(await rows()).toBe(2);
});
