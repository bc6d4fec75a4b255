import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deliveryAttempt } from '../../../test/delivery-attempt.ts';
import { deliveryWorld } from '../../../test/delivery-world.ts';
import { openPatientStore } from '../../../test/patient-store.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { AppStore } from '../../queries.ts';
import type { Attempt } from './attempt-queries.ts';
import type { MatchedCaptures } from './match-queries.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import { T0, captureMany, indexesOf, someEndpoint, someUser } from '../../../test/store-world.ts';

/** On PostgreSQL, captures and deliveries of an endpoint are written at the same time. */
let database: TestDatabase;
let store: AppStore;
let holder: pg.Client;
let userId: number;
let endpoint: EndpointRecord;
let endpointId: number;
let destinationId: number;

beforeEach(async () => {
  database = await createTestDatabase();
  store = await openPatientStore(database.url);
  holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  // With a confirmed address, so that a pause writes a notice.
  ({ id: userId } = await someUser(store, { emailVerified: true }));
  endpoint = await someEndpoint(store, { userId });
  endpointId = endpoint.id;
  ({ id: destinationId } = await deliveryWorld(store).add(endpoint));
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

/** A step of matching. It has one capture at least, and fewer than all on a busy machine. */
const match = () => store.matchCaptures(endpointId, { mark: 'mark', secret: 'secret' }, { maxRows: 100 });

const plan = (matched: MatchedCaptures) => store.planCaptures(endpointId, matched, { now: T0, maxPending: 100 });

async function planAll(): Promise<void> {
  for (let matched = await match(); matched !== undefined; matched = await match()) await plan(matched);
}

function failed(delivery: { readonly id: string; readonly index: number } | undefined): Attempt {
  return deliveryAttempt({
    endpointId,
    index: delivery?.index ?? -1,
    deliveryId: delivery?.id ?? '',
    destinationId,
    status: null,
    statusText: '',
    error: 'The connection was refused.',
    at: T0,
    nextAttemptAt: T0 + 5000,
  });
}

test('captures go on while deliveries are planned, and the deletion of a request waits for the plan', async () => {
  const matched = await match();
  if (matched === undefined) throw new Error('Nothing to plan.');
  await holdDestination();
  const planning = plan(matched);
  await database.untilBlocked(1);
  expect(indexesOf(await captureMany(store, endpointId, 1))).toEqual([3]);
  const deleting = store.deleteRequest(endpointId, { index: 0 });
  await database.untilBlocked(2);
  await holder.query('commit');
  expect(await planning).toMatchObject({ planned: matched.captures.map(({ index }) => index) });
  expect(await deleting).toBe(true);
  await planAll();
  const due = await store.dueDeliveries(destinationId, [], { now: T0 + 1000, limit: 100 });
  expect(due?.deliveries.map(({ index }) => index).toSorted()).toEqual([1, 2, 3]);
  expect(await store.countPendingDeliveries()).toBe(3);
});

/** Records a failed attempt, which waits for its destination. */
async function recordHeldAttempt() {
  await planAll();
  const due = await store.dueDeliveries(destinationId, [], { now: T0 + 1000, limit: 1 });
  const [delivery] = due?.deliveries ?? [];
  await holdDestination();
  const recording = store.recordAttempts([failed(delivery)], T0);
  await database.untilBlocked(1);
  return { delivery, recording };
}

test('captures go on while a failed attempt is recorded', async () => {
  const { recording } = await recordHeldAttempt();
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

test('a delivery is locked after its destination, so that shortening waits can not deadlock with an attempt', async () => {
  const { delivery, recording } = await recordHeldAttempt();
  const locked = await holder.query('select 1 from deliveries where id = $1 for update nowait', [delivery?.id]);
  expect(locked.rowCount).toBe(1);
  await holder.query('commit');
  expect(await recording).toMatchObject([{ index: 0, state: { isPending: true } }]);
});

test('a report of the command line and an attempt are recorded while deliveries are planned', async () => {
  await planAll();
  const due = await store.dueDeliveries(destinationId, [], { now: T0 + 1000, limit: 1 });
  await captureMany(store, endpointId, 1);
  // The plan stops with the destination locked, before it writes the endpoint.
  await holder.query('begin; lock table deliveries in share mode');
  const planning = planAll();
  await database.untilBlocked(1);
  const attempt = failed(due?.deliveries[0]);
  const report: Attempt = { ...attempt, deliveryId: 'report', kind: 'cli', destinationId: null, nextAttemptAt: null };
  const recording = store.recordAttempts([attempt, report], T0);
  await database.untilBlocked(2);
  await holder.query('commit');
  await planning;
  expect(await recording).toMatchObject([{ kind: 'forward' }, { kind: 'cli' }]);
  expect(await store.listDestinations(endpointId)).toMatchObject([{ pending: 4 }]);
});

test('an account is deleted while one of its destinations is paused with a notice', async () => {
  await planAll();
  await store.recordAttempts(
    Array.from({ length: 49 }, () => failed(undefined)),
    T0,
  );
  const due = await store.dueDeliveries(destinationId, [], { now: T0 + 1000, limit: 1 });
  await holdDestination();
  const recording = store.recordAttempts([failed(due?.deliveries[0])], T0);
  await database.untilBlocked(1);
  const deleting = store.deleteUser(userId);
  await database.untilBlocked(2);
  await holder.query('commit');
  expect(await recording).toMatchObject([{ index: 0 }]);
  expect(await deleting).toEqual([endpointId]);
  expect(await database.run('select 1 from mail_outbox union all select 1 from destinations')).toEqual([]);
  await expectNoDeadlock();
});

/** A session counts its deadlocks at the latest when it ends. Its query is repeated, so nothing else shows them. */
async function expectNoDeadlock(): Promise<void> {
  await store.close();
  store = await openPatientStore(database.url);
  const counted = await database.run('select deadlocks from pg_stat_database where datname = current_database()');
  expect(counted).toEqual([{ deadlocks: '0' }]);
}

const replay = (index: number): Attempt =>
  deliveryAttempt({ endpointId, index, deliveryId: 'replay', kind: 'replay', destinationId: null, at: T0 });

/** Stores the last delivery of a request, and holds it, so that what changes it stops halfway. */
async function holdLatest(index: number): Promise<void> {
  await store.recordAttempts([replay(index)], T0);
  await holder.query('begin');
  await holder.query('select 1 from latest_deliveries for update');
}

test('a replay of a request is recorded while attempts to forward it and another are', async () => {
  await planAll();
  const due = await store.dueDeliveries(destinationId, [], { now: T0 + 1000, limit: 2 });
  await holdLatest(1);
  const forwarding = store.recordAttempts(
    (due?.deliveries ?? []).map((delivery) => ({ ...failed(delivery), nextAttemptAt: null })),
    T0,
  );
  await database.untilBlocked(1);
  const replaying = store.recordAttempts([replay(0)], T0);
  await database.untilBlocked(2);
  await holder.query('commit');
  expect(await forwarding).toMatchObject([{ index: 0 }, { index: 1 }]);
  expect(await replaying).toMatchObject([{ kind: 'replay' }]);
  await expectNoDeadlock();
});

test('a replay of a request is recorded while the planner refuses to forward it', async () => {
  const matched = await vi.waitFor(async () => {
    const step = await match();
    if (step === undefined || step.captures.length < 2) throw new Error('The step is too short.');
    return step;
  }, 30_000);
  await holdLatest(1);
  const planning = store.planCaptures(endpointId, matched, { now: T0, maxPending: 0 });
  await database.untilBlocked(1);
  const replaying = store.recordAttempts([replay(0)], T0);
  await database.untilBlocked(2);
  await holder.query('commit');
  expect(await planning).toMatchObject({ planned: [] });
  expect(await replaying).toMatchObject([{ kind: 'replay' }]);
  await expectNoDeadlock();
});

test('attempts for the same requests at two destinations are recorded in another order at the same time', async () => {
  const second = await deliveryWorld(store).add(endpoint);
  await planAll();
  await captureMany(store, endpointId, 2);
  await planAll();
  /** Failed attempts for the two requests that both destinations get. */
  const attemptsAt = async (id: number): Promise<Attempt[]> => {
    const due = await store.dueDeliveries(id, [], { now: T0 + 1000, limit: 10 });
    const both = due?.deliveries.filter(({ index }) => index >= 3) ?? [];
    return both.map((delivery) => ({ ...failed(delivery), destinationId: id }));
  };
  const attempts = await attemptsAt(destinationId);
  const reversed = (await attemptsAt(second.id)).toReversed();
  await holdLatest(3);
  const recording = [store.recordAttempts(attempts, T0)];
  await database.untilBlocked(1);
  recording.push(store.recordAttempts(reversed, T0));
  await database.untilBlocked(2);
  await holder.query('commit');
  expect((await Promise.all(recording)).flat().map((recorded) => recorded?.index)).toEqual([3, 4, 4, 3]);
  await expectNoDeadlock();
});
