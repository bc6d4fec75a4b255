import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { openPostgresStore } from '../../database/postgres/postgres-store.ts';
import { metricOf } from '../../../test/metric.ts';
import { startNats } from '../../../test/nats-server.ts';
import type { NatsServer } from '../../../test/nats-server.ts';
import { openLink } from '../../../test/postgres-link.ts';
import type { Link } from '../../../test/postgres-link.ts';
import { upgradeRaw } from '../../../test/raw-upgrade.ts';
import { createTestDatabase } from '../../../test/test-database.ts';
import type { TestDatabase } from '../../../test/test-database.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer, TestServerOptions } from '../../../test/test-server.ts';
import { OverflowLog } from './overflow-log.ts';

let database: TestDatabase;
let link: Link;
let nats: NatsServer;
let storeDir: string;
const servers: TestServer[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  link = await openLink(database.url);
  storeDir = await mkdtemp(join(tmpdir(), 'creel-nats-'));
  nats = await startNats({ storeDir });
});

afterEach(async () => {
  // Ends cut connections, so that a stopping server does not wait until their statements time out.
  link.refuse();
  link.mend();
  for (const server of servers.splice(0)) await server.stop();
  await nats.stop();
  await link.close();
  await database.remove();
  await rm(storeDir, { recursive: true, force: true });
});

function nodeOptions(settings: Readonly<Record<string, string>>, url = link.url): TestServerOptions {
  return {
    settings: { DATABASE_URL: url, NATS_URL: nats.url, DEFAULT_TIER: 'PREMIUM', ...settings },
    openStore: () => openPostgresStore(url, QUERIES),
  };
}

/** The log as another node sees it. */
async function openLog(): Promise<{ log: OverflowLog; close: () => Promise<void> }> {
  const connection = await connect({ servers: `127.0.0.1:${nats.port}` });
  const [row] = await database.run("select value as name from secrets where name = 'installation'");
  const log = new OverflowLog({
    name: String(row?.['name']),
    replicas: 1,
    maxBytes: 125_000,
    connection: () => connection,
  });
  return { log, close: () => connection.close() };
}

/** A node. Its database is reached through the link, unless `url` is another one. */
async function startNode(settings: Readonly<Record<string, string>> = {}, url = link.url): Promise<TestServer> {
  const server = await startTestServer(nodeOptions(settings, url));
  servers.push(server);
  // The log is created in the background.
  await expect.poll(() => metricOf(server.origin, 'creel_overflow_log_batches')).toBe(0);
  await expect.poll(async () => (await database.run('select name from secrets')).length).toBeGreaterThan(1);
  return server;
}

interface Sent {
  readonly status: number;
  readonly index: string | null;
}

async function send(server: TestServer, uid: string, body: string | Buffer<ArrayBuffer>): Promise<Sent> {
  const answer = await fetch(`${server.origin}/h/${uid}`, { method: 'POST', body });
  await answer.text();
  return { status: answer.status, index: answer.headers.get('x-creel-request') };
}

const LOGGED: Sent = { status: 200, index: null };

async function storedBodies(endpointId: number): Promise<string[]> {
  const rows = await database.run(
    `select convert_from(body, 'UTF8') as body from captured_requests where key >> 32 = ${endpointId} order by key`,
  );
  return rows.map((row) => String(row['body']));
}

describe('while PostgreSQL is unreachable', () => {
  test.each<[string, () => void]>([
    ['refuses connections', () => link.refuse()],
    ['does not answer', () => link.cut()],
  ])('and %s, captures are logged, and stored in order when it is back', async (_, disturb) => {
    const server = await startNode();
    const { client, uid, endpointId } = await server.registerOwner();
    expect(await send(server, uid, 'before')).toEqual({ status: 200, index: '0' });
    disturb();
    const bodies = Array.from({ length: 6 }, (_each, nth) => `number ${nth}`);
    for (const body of bodies) expect(await send(server, uid, body)).toEqual(LOGGED);
    const [unknown, ready, listed, view] = await Promise.all([
      client.answerTo('/h/unknown', { method: 'POST' }),
      client.answerTo('/readyz'),
      client.answerTo('/api/endpoints'),
      upgradeRaw(server.port, `/ws?endpoint=${uid}`, { cookie: client.jar.header() }),
    ]);
    expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '1']);
    expect(ready.status).toBe(200);
    expect(listed.status).toBe(503);
    expect([view.answer.status, view.answer.header('retry-after')]).toEqual([503, '5']);
    view.connection.close();
    expect(await metricOf(server.origin, 'creel_overflow_log_used')).toBe(1);
    link.mend();
    await expect.poll(() => storedBodies(endpointId)).toHaveLength(7);
    expect(await storedBodies(endpointId)).toEqual(['before', ...bodies]);
    await expect.poll(() => send(server, uid, 'after').then(({ index }) => index !== null)).toBe(true);
    expect(await metricOf(server.origin, 'creel_captures_logged_total')).toBeGreaterThanOrEqual(6);
  });

  test('captures to an endpoint that was just changed are logged', async () => {
    const server = await startNode();
    const { client, uid, endpointId } = await server.registerOwner();
    expect(await send(server, uid, 'before')).toEqual({ status: 200, index: '0' });
    const changed = await client.answerTo(`/api/endpoints/${uid}`, { method: 'PATCH', json: { name: 'renamed' } });
    expect(changed.status).toBe(200);
    link.refuse();
    expect(await send(server, uid, 'away')).toEqual(LOGGED);
    link.mend();
    await expect.poll(() => storedBodies(endpointId)).toEqual(['before', 'away']);
  });

  test('hundreds of batches are stored in order, many at a time', async () => {
    const server = await startNode();
    const { client, uid, endpointId } = await server.registerOwner();
    expect(await send(server, uid, 'before')).toEqual({ status: 200, index: '0' });
    link.refuse();
    const bodies = Array.from({ length: 300 }, (_each, nth) => `number ${nth}`);
    for (const body of bodies) expect(await send(server, uid, body)).toEqual(LOGGED);
    await client.answerTo(`/h/${uid}`, { method: 'POST', body: 'x'.repeat(1_500_000) });
    link.mend();
    await expect.poll(() => storedBodies(endpointId)).toHaveLength(302);
    expect((await storedBodies(endpointId)).slice(1, 301)).toEqual(bodies);
    await expect.poll(() => metricOf(server.origin, 'creel_overflow_log_batches')).toBe(0);
    expect(await metricOf(server.origin, 'creel_overflow_drained_batches_total')).toBe(301);
    const transactions = await database.run(
      `select count(distinct xmin::text) as count from captured_requests where key >> 32 = ${endpointId}`,
    );
    expect(Number(transactions[0]?.['count'])).toBeLessThan(30);
  });

  test('a body larger than a message of NATS is logged in parts, and stored byte for byte', async () => {
    const server = await startNode();
    const { uid, endpointId } = await server.registerOwner();
    await send(server, uid, 'before');
    link.refuse();
    const body = Buffer.from('0123456789abcdef'.repeat(200_000));
    expect(await send(server, uid, body)).toEqual(LOGGED);
    link.mend();
    await expect.poll(() => storedBodies(endpointId)).toHaveLength(2);
    expect((await storedBodies(endpointId))[1] === body.toString()).toBe(true);
    await expect.poll(() => metricOf(server.origin, 'creel_overflow_log_bytes')).toBe(0);
  });

  test('a full log is answered with 503, also by /readyz, and nothing of it is lost', async () => {
    const server = await startNode({ OVERFLOW_MAX_BYTES: '100000' });
    const { client, uid, endpointId } = await server.registerOwner();
    await send(server, uid, 'before');
    link.refuse();
    const sent: Sent[] = [];
    for (let nth = 0; nth < 8; nth++) sent.push(await send(server, uid, `${nth} ${'x'.repeat(20_000)}`));
    const logged = sent.filter(({ status }) => status === 200);
    expect(logged.length).toBeGreaterThan(0);
    expect(sent.slice(logged.length).map(({ status }) => status)).toEqual(sent.slice(logged.length).map(() => 503));
    expect(sent.length).toBeGreaterThan(logged.length);
    expect(await metricOf(server.origin, 'creel_overflow_log_full')).toBe(1);
    expect((await client.answerTo('/readyz')).status).toBe(503);
    link.mend();
    await expect.poll(() => storedBodies(endpointId)).toHaveLength(1 + logged.length);
    await expect.poll(async () => (await client.answerTo('/readyz')).status).toBe(200);
  });

  test('another node drains what a node without PostgreSQL has logged', async () => {
    const [first, other] = [await startNode(), await startNode({}, database.url)];
    const { uid, endpointId } = await first.registerOwner();
    await send(first, uid, 'before');
    link.refuse();
    const bodies = Array.from({ length: 10 }, (_each, nth) => `number ${nth}`);
    for (const body of bodies) expect(await send(first, uid, body)).toEqual(LOGGED);
    await expect.poll(() => storedBodies(endpointId)).toEqual(['before', ...bodies]);
    // The node counts a batch after it is stored.
    await expect.poll(() => metricOf(other.origin, 'creel_overflow_drained_batches_total')).toBe(10);
  });
});

/** A store that drains nothing before `hold` resolves. */
async function openHeldStore(hold: Promise<void>): Promise<AppStore> {
  const store = await openPostgresStore(link.url, QUERIES);
  const { drain } = store;
  if (drain === undefined) throw new Error('PostgreSQL drains the overflow log');
  return {
    ...store,
    drain: {
      check: (withinMs) => drain.check(withinMs),
      writeLogged: (...given) => hold.then(() => drain.writeLogged(...given)),
    },
  };
}

test('a node that starts while its logged captures are drained stores new ones after them', async () => {
  // nats-server then has files of 32 kB, and the first one is removed before the node starts.
  const settings = { OVERFLOW_MAX_BYTES: '125000' };
  const first = await startNode(settings);
  const { uid, endpointId } = await first.registerOwner();
  await send(first, uid, 'before');
  link.refuse();
  const bodies = Array.from({ length: 140 }, (_each, nth) => `number ${nth}`);
  for (const body of bodies) expect(await send(first, uid, body)).toEqual(LOGGED);
  await first.stop();
  const other = await openLog();
  const drained = await other.log.next();
  expect(drained?.batches.length).toBe(128);
  await drained?.done();
  link.mend();
  const hold = Promise.withResolvers<void>();
  const second = await startTestServer({ ...nodeOptions(settings), openStore: () => openHeldStore(hold.promise) });
  servers.push(second);
  expect(await send(second, uid, 'after')).toEqual(LOGGED);
  hold.resolve();
  await expect.poll(() => storedBodies(endpointId)).toHaveLength(14);
  expect(await storedBodies(endpointId)).toEqual(['before', ...bodies.slice(128), 'after']);
  await other.close();
});

test('a deleted endpoint’s logged captures are dropped', async () => {
  const [near, far] = [await startNode({}, database.url), await startNode()];
  const { client, uid, endpointId } = await near.registerOwner();
  await send(far, uid, 'before');
  await nats.stop('SIGKILL');
  expect(await send(far, uid, 'stored')).toMatchObject({ status: 200, index: '1' });
  link.refuse();
  expect(await send(far, uid, 'no log')).toMatchObject({ status: 503 });
  await client.call('deleteEndpoint', { params: { uid } });
  nats = await startNats({ storeDir, port: nats.port });
  await expect.poll(() => send(far, uid, 'logged')).toEqual(LOGGED);
  await expect.poll(() => metricOf(far.origin, 'creel_overflow_log_batches')).toBe(0);
  expect(await storedBodies(endpointId)).toEqual([]);
});

test('an overflow log that does not answer, as without a leader, is a warning', async () => {
  const node = await startNode({ LOG_LEVEL: 'warn' });
  await nats.stop('SIGKILL');
  await expect.poll(() => node.log()).toMatch(/"level":40.*the overflow log does not answer/);
  expect(node.log()).not.toContain('"level":50');
  nats = await startNats({ storeDir, port: nats.port });
});
