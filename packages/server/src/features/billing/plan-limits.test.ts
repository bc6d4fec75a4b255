import { PLANS, endpointSchema } from '@creel/contract';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createTestDatabase } from '../../../test/test-database.ts';
import { startServerProcess } from '../../../test/server-process.ts';
import type { ServerProcess } from '../../../test/server-process.ts';
import { createTestClient } from '../../../test/test-client.ts';
import type { TestClient } from '../../../test/test-client.ts';

/** Two processes on one PostgreSQL, and a user who uses both at once. */
const LIMIT = { timeout: 240_000 };
const ROUNDS = Number(process.env['LIMIT_ROUNDS'] ?? 3);
const AT_ONCE = 50;

let nodes: ServerProcess[] = [];
const database = await createTestDatabase();
const settings = { DATABASE_URL: database.url, DEFAULT_TIER: 'FREE', BILLING: 'test', SIGNUPS_PER_HOUR: '1000' };
for (let nth = 0; nth < 2; nth++) nodes.push(await startServerProcess(settings));
afterAll(async () => {
  for (const node of nodes) await node.stop();
  nodes = [];
  await database.remove();
});

/** A user's browser at each process. */
async function someone(tier?: 'BASIC' | 'PREMIUM'): Promise<[TestClient, TestClient]> {
  const [first, second] = nodes.map(({ origin }) => origin);
  if (first === undefined || second === undefined) throw new Error('The processes do not run.');
  const username = `limits-${Math.random().toString(36).slice(2)}`;
  const client = createTestClient(first);
  await client.call('register', { body: { username, password: 'a good password', email: `${username}@example.com` } });
  if (tier !== undefined) {
    const body = { tier, interval: 'monthly', returnUrl: '/' } as const;
    const { url } = await client.call('createCheckout', { body });
    const params = { id: url.slice(url.lastIndexOf('/') + 1) };
    await client.call('decideTestCheckout', { params, body: { action: 'pay' } });
  }
  return [client, createTestClient(second, { cookie: client.jar.header() })];
}

const createAt = async (client: TestClient): Promise<string | number> => {
  const { status, body } = await client.answerTo('/api/endpoints', { method: 'POST', json: {} });
  return status === 201 ? endpointSchema.parse(body).uid : status;
};

/** Parallel creations at both processes. */
const createMany = (clients: readonly [TestClient, TestClient], count: number) =>
  Promise.all(Array.from({ length: count }, (_, nth) => createAt(clients[nth % 2 === 0 ? 0 : 1])));

const isUid = (outcome: string | number): outcome is string => typeof outcome === 'string';

test(`${AT_ONCE} parallel creations, ${ROUNDS} times: exactly the plan's number succeeds`, LIMIT, async () => {
  const clients = await someone('BASIC');
  for (let round = 0; round < ROUNDS; round++) {
    const outcomes = await createMany(clients, AT_ONCE);
    expect(outcomes.filter(isUid)).toHaveLength(PLANS.BASIC.endpoints);
    expect(new Set(outcomes.filter((outcome) => !isUid(outcome)))).toEqual(new Set([403]));
    await Promise.all(outcomes.filter(isUid).map((uid) => clients[0].call('deleteEndpoint', { params: { uid } })));
  }
});

test('a downgrade during creations leaves exactly the number of the lower plan', LIMIT, async () => {
  for (let round = 0; round < 5; round++) {
    const clients = await someone('PREMIUM');
    await createMany(clients, 12);
    const creations = createMany(clients, AT_ONCE);
    const changed = await clients[1].answerTo('/api/subscription/change', {
      method: 'POST',
      json: { tier: 'BASIC', interval: 'monthly' },
    });
    expect(changed.status).toBe(200);
    const statuses = (await creations).filter((outcome) => !isUid(outcome));
    expect(new Set([...statuses, 403])).toEqual(new Set([403]));
    const left = z.array(endpointSchema).parse((await clients[0].answerTo('/api/endpoints')).body);
    expect(left).toHaveLength(PLANS.BASIC.endpoints);
  }
});

test('a period that ends in one process ends once, for both', LIMIT, async () => {
  const clients = await someone('BASIC');
  await createMany(clients, 5);
  await Promise.all(
    [0, 1].map((nth) =>
      clients[nth === 0 ? 0 : 1].answerTo('/api/billing/test/portal', { method: 'POST', json: { action: 'end-now' } }),
    ),
  );
  for (const client of clients) {
    expect((await client.call('getUser', {})).subscriptionTier).toBe('FREE');
    expect(await client.call('listEndpoints', {})).toHaveLength(1);
  }
});
