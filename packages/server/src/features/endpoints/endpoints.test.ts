import { afterAll, describe, expect, test } from 'vitest';
import { PLANS } from '@creel/contract';
import type { Tier } from '@creel/contract';
import type { TestClient } from '../../../test/test-client.ts';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { StorageUnavailable } from '../../database/store.ts';
import { QUERIES } from '../../queries.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

const DAY = 86_400_000;

const start = (tier: Tier) => startTestServer({ settings: { DEFAULT_TIER: tier, SIGNUPS_PER_HOUR: '1000' } });
const [free, basic, premium] = await Promise.all([start('FREE'), start('BASIC'), start('PREMIUM')]);
afterAll(() => Promise.all([free.stop(), basic.stop(), premium.stop()]));

const create = (client: TestClient, json: unknown = {}) => client.answerTo('/api/endpoints', { method: 'POST', json });
const change = (client: TestClient, uid: string, json: unknown) =>
  client.answerTo(`/api/endpoints/${uid}`, { method: 'PATCH', json });
const refusal = (sentence: string) => ({
  status: 403,
  body: { code: 'PLAN_LIMIT', error: sentence, message: sentence },
});

test('an account that is deleted during a creation has no endpoint, and is logged out', async () => {
  await using server = await startTestServer({
    openStore: async (dataDir) => {
      const store = await openSqliteStore(dataDir, QUERIES);
      return {
        ...store,
        async createEndpoint(endpoint, plans) {
          await store.deleteUser(endpoint.userId);
          return store.createEndpoint(endpoint, plans);
        },
      };
    },
  });
  const { client } = await server.register();
  expect(await create(client)).toMatchObject({ status: 401, body: { code: 'NOT_SIGNED_IN' } });
});

test('a change counts for captures, also if its answer was lost', async () => {
  await using server = await startTestServer({
    settings: { DEFAULT_TIER: 'PREMIUM' },
    openStore: async (dataDir) => {
      const store = await openSqliteStore(dataDir, QUERIES);
      return {
        ...store,
        async changeEndpoint(id, changes) {
          await store.changeEndpoint(id, changes);
          throw new StorageUnavailable('The connection was lost.');
        },
      };
    },
  });
  const { client, uid } = await server.registerOwner();
  const capture = async () => (await client.send(`/h/${uid}`, { method: 'POST', body: 'x' })).status;
  expect(await capture()).toBe(200);
  expect(await change(client, uid, { isFavorite: true })).toMatchObject({ status: 503 });
  server.clock.advance(15 * DAY);
  expect(await capture()).toBe(200);
});

describe('creating', () => {
  test('creates an endpoint with its own URL and the requested fields', async () => {
    const { client, user } = await basic.register();
    const answer = await create(client, { name: '  Orders ', source: ' Shop ' });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        name: 'Orders',
        source: 'Shop',
        userId: user.id,
        autosave: 'false',
        isFavorite: 'false',
        requestCount: 0,
        latestRequest: null,
      },
    });
    const endpoint = await client.call('createEndpoint', { body: {} });
    expect(endpoint).toMatchObject({ name: null, source: null, url: `${basic.origin}/h/${endpoint.uid}` });
    expect(endpoint.uid).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(Date.parse(endpoint.expiresAt ?? '') - Date.parse(endpoint.createdAt)).toBe(7 * DAY);
  });

  test.each([
    [{ name: 'x'.repeat(101) }, 'name', 'Name must be at most 100 characters'],
    [{ source: 'x'.repeat(101) }, 'source', 'Source must be at most 100 characters'],
    [{ name: 7 }, 'name', 'Name must be text'],
    [{ name: 'a\u0000b' }, 'name', 'Name must not contain control characters'],
    [{ source: 'a\nb' }, 'source', 'Source must not contain control characters'],
    [{ autoSaveEnabled: 'perhaps' }, 'autoSaveEnabled', 'Autosave must be true or false'],
    [[], 'body', 'Please send a JSON object with the fields of this call.'],
    ['text', 'body', 'Please send a JSON object with the fields of this call.'],
    [null, 'body', 'Please send a JSON object with the fields of this call.'],
  ])('refuses %j', async (json, field, sentence) => {
    const { client } = await basic.register();
    expect(await create(client, json)).toMatchObject({
      status: 400,
      body: { error: sentence, fields: { [field]: sentence } },
    });
    expect(await client.call('listEndpoints', {})).toEqual([]);
  });

  test.each<[Tier, () => TestServer]>([
    ['FREE', () => free],
    ['BASIC', () => basic],
    ['PREMIUM', () => premium],
  ])(
    'under %s the plan holds against thirty at once, with its sentence; what has expired does not count',
    async (tier, at) => {
      const plan = PLANS[tier];
      const { client } = await at().register();
      const answers = await Promise.all(Array.from({ length: 30 }, () => create(client)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(plan.endpoints);
      expect(answers.filter(({ status }) => status === 403)).toHaveLength(30 - plan.endpoints);
      expect(await create(client)).toMatchObject(refusal(plan.endpointLimitSentence));
      expect(await client.call('listEndpoints', {})).toHaveLength(plan.endpoints);
      at().clock.advance(plan.expiryMs);
      expect((await create(client)).status).toBe(201);
    },
  );

  test('an expired endpoint is revived as a favorite only if the plan has room for it', async () => {
    const { client } = await basic.register();
    const expired = await client.call('createEndpoint', { body: {} });
    basic.clock.advance(PLANS.BASIC.expiryMs);
    for (let nth = 0; nth < PLANS.BASIC.endpoints; nth += 1) expect((await create(client)).status).toBe(201);
    expect(await change(client, expired.uid, { isFavorite: true })).toMatchObject(
      refusal(PLANS.BASIC.endpointLimitSentence),
    );
    const [newest] = await client.call('listEndpoints', {});
    expect(newest?.isFavorite).toBe('false');
    await client.call('deleteEndpoint', { params: { uid: newest?.uid ?? '' } });
    expect(await change(client, expired.uid, { isFavorite: true })).toMatchObject({
      status: 200,
      body: { expiresAt: null },
    });
  });

  test("one user's endpoints do not count for another", async () => {
    const [one, two] = [await free.register(), await free.register()];
    expect((await create(one.client)).status).toBe(201);
    expect((await create(two.client)).status).toBe(201);
  });
});

describe('the list', () => {
  test('has favorites first, then the newest', async () => {
    const { client } = await premium.register();
    const uids: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      uids.push((await client.call('createEndpoint', { body: { name } })).uid);
      premium.clock.advance(1);
    }
    await change(client, uids[0] ?? '', { isFavorite: true });
    expect((await client.call('listEndpoints', {})).map(({ name }) => name)).toEqual(['first', 'third', 'second']);
  });
});

describe('changing', () => {
  test('accepts booleans and their texts, and changes only the given fields', async () => {
    const { client } = await premium.register();
    const { uid } = await client.call('createEndpoint', { body: { name: 'Old', source: 'Shop' } });
    expect(await change(client, uid, { autosave: true })).toMatchObject({
      status: 200,
      body: { autosave: 'true', name: 'Old', source: 'Shop' },
    });
    expect((await change(client, uid, { autosave: 'false' })).body).toMatchObject({ autosave: 'false' });
    expect((await change(client, uid, { name: 'New' })).body).toMatchObject({ name: 'New', source: 'Shop' });
    expect((await change(client, uid, { name: '  ', source: null })).body).toMatchObject({ name: null, source: null });
    const before = await client.call('getEndpoint', { params: { uid } });
    expect((await change(client, uid, {})).status).toBe(200);
    expect(await client.call('getEndpoint', { params: { uid } })).toEqual(before);
    for (const json of [{ autosave: 'yes' }, { autosave: 1 }, { isFavorite: null }, { name: 'x'.repeat(101) }]) {
      expect((await change(client, uid, json)).status).toBe(400);
    }
    expect(await client.call('getEndpoint', { params: { uid } })).toEqual(before);
  });

  test('a favorite never expires; unmarked, it expires by the plan; unmarked twice, it does not live longer', async () => {
    const { client } = await basic.register();
    const { uid, expiresAt } = await client.call('createEndpoint', { body: {} });
    basic.clock.advance(DAY);
    expect((await change(client, uid, { isFavorite: false })).body).toMatchObject({ isFavorite: 'false', expiresAt });
    expect(await change(client, uid, { isFavorite: 'true' })).toMatchObject({
      status: 200,
      body: { isFavorite: 'true', expiresAt: null },
    });
    const off = basic.clock.now();
    const { body } = await change(client, uid, { isFavorite: false });
    const after = await client.call('getEndpoint', { params: { uid } });
    expect(body).toMatchObject({ isFavorite: 'false', expiresAt: after.expiresAt });
    const takenOff = Date.parse(after.expiresAt ?? '') - 7 * DAY;
    expect(takenOff).toBeGreaterThanOrEqual(off);
    expect(takenOff).toBeLessThanOrEqual(basic.clock.now());
  });

  test('FREE has no favorites', async () => {
    const { client, uid } = await free.registerOwner();
    expect(await change(client, uid, { isFavorite: true })).toMatchObject(refusal('Upgrade plan for favorites'));
    expect(await change(client, uid, { isFavorite: true, name: 'Both or none' })).toMatchObject({ status: 403 });
    expect((await client.call('getEndpoint', { params: { uid } })).name).toBeNull();
  });

  test.each<[Tier, number, string, () => TestServer]>([
    ['BASIC', 1, 'Your plan allows 1 favorite. Remove one first or upgrade.', () => basic],
    ['PREMIUM', 5, 'Your plan allows 5 favorites. Remove one first.', () => premium],
  ])('under %s, %i may be favorites, at once or one by one', async (_, most, sentence, at) => {
    const { client } = await at().register();
    const uids: string[] = [];
    while (uids.length < most + 2) uids.push((await client.call('createEndpoint', { body: {} })).uid);
    const answers = await Promise.all(uids.map((uid) => change(client, uid, { isFavorite: true })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(most);
    const list = await client.call('listEndpoints', {});
    const [favorite, other] = [
      list.find(({ isFavorite }) => isFavorite === 'true'),
      list.find(({ isFavorite }) => isFavorite === 'false'),
    ];
    expect(await change(client, other?.uid ?? '', { isFavorite: true })).toMatchObject(refusal(sentence));
    expect((await change(client, favorite?.uid ?? '', { isFavorite: true })).status).toBe(200);
    await change(client, favorite?.uid ?? '', { isFavorite: false });
    expect((await change(client, other?.uid ?? '', { isFavorite: true })).status).toBe(200);
  });
});

describe('expiring and deleting', () => {
  test('an endpoint past its time answers captures with 410 and is still shown', async () => {
    const { client, uid } = await free.registerOwner();
    free.clock.advance(DAY);
    const refused = await client.answerTo(`/h/${uid}`, { method: 'POST', body: 'late' });
    expect(refused).toMatchObject({ status: 410, body: { code: 'ENDPOINT_EXPIRED' } });
    expect(await client.call('getEndpoint', { params: { uid } })).toMatchObject({ uid, requestCount: 0 });
  });

  test('deleting removes the requests, and succeeds once', async () => {
    const { client, uid } = await basic.registerOwner();
    await client.send(`/h/${uid}`, { method: 'POST', body: 'a unique needle' });
    expect((await client.answerTo(`/api/endpoints/${uid}`, { method: 'DELETE' })).status).toBe(204);
    expect((await client.answerTo(`/api/endpoints/${uid}`, { method: 'DELETE' })).status).toBe(404);
    expect((await client.answerTo(`/api/endpoints/${uid}`)).body).toMatchObject({ code: 'ENDPOINT_NOT_FOUND' });
    expect((await client.send(`/h/${uid}`, { method: 'POST', body: 'x' })).status).toBe(404);
    expect(await client.call('search', { query: { q: 'unique needle' } })).toEqual([]);
    expect(await client.call('listEndpoints', {})).toEqual([]);
  });

  test('a uid matches exactly', async () => {
    const { client, uid } = await basic.registerOwner();
    const swapped = uid.replace(/[a-zA-Z]/, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    for (const other of [swapped, `${uid}x`, uid.slice(0, -1), `%20${uid}`, `${uid}%00`]) {
      expect((await client.answerTo(`/api/endpoints/${other}`)).status).toBe(404);
    }
  });
});

describe('statistics', () => {
  test('count stored requests, saved and unsaved, by method, and the average size', async () => {
    const { client, uid } = await basic.registerOwner();
    expect((await client.call('getEndpoint', { params: { uid } })).stats).toEqual({
      total: 0,
      byMethod: {},
      averageSize: 0,
    });
    for (const [method, body] of [
      ['POST', 'xxxx'],
      ['POST', 'xx'],
      ['GET', undefined],
    ] as const) {
      await client.send(`/h/${uid}`, { method, ...(body === undefined ? {} : { body }) });
    }
    await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
    const detail = await client.call('getEndpoint', { params: { uid } });
    expect(detail).toMatchObject({
      requestCount: 3,
      stats: { total: 3, byMethod: { POST: 2, GET: 1 }, averageSize: 2 },
      retention: { saved: 1 },
    });
    await client.call('clearRequests', { params: { uid } });
    expect(await client.call('getEndpoint', { params: { uid } })).toMatchObject({
      requestCount: 0,
      latestRequest: null,
      stats: { total: 0, byMethod: {}, averageSize: 0 },
      retention: { saved: 0 },
    });
  });
});
