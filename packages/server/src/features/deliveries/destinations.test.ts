import { unsavedId } from '@creel/contract';
import type { Destination, DestinationCreate } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openRawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { standingClock, startTestServer } from '../../../test/test-server.ts';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../../queries.ts';

let client: TestClient;

const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM' }, clock: standingClock() });
afterAll(() => server.stop());

async function newEndpoint(): Promise<string> {
  const owner = await server.registerOwner();
  client = owner.client;
  return owner.uid;
}

const addDestination = (uid: string, body: Partial<DestinationCreate> & { url: string }): Promise<Destination> =>
  client.call('createDestination', { params: { uid }, body });

describe('destinations', () => {
  test('are listed oldest first, changed and deleted', async () => {
    const uid = await newEndpoint();
    const created = await addDestination(uid, { url: ' http://127.0.0.1:9/hook ' });
    expect(created).toEqual({
      id: expect.any(Number),
      url: 'http://127.0.0.1:9/hook',
      appendPath: false,
      enabled: true,
      query: '',
      sign: false,
      state: { name: 'active' },
      pending: 0,
      recentStatuses: [],
      createdAt: expect.any(String),
    });
    const second = await addDestination(uid, { url: 'http://127.0.0.1:9/', query: 'method:POST', appendPath: true });
    const params = { uid, id: created.id };
    const changed = await client.call('changeDestination', { params, body: { query: 'body:x', enabled: false } });
    expect(changed).toEqual({ ...created, query: 'body:x', enabled: false });
    expect(await client.call('listDestinations', { params: { uid } })).toEqual([changed, second]);
    await client.call('deleteDestination', { params });
    expect(await client.call('listDestinations', { params: { uid } })).toEqual([second]);
    const again = await client.answerTo(`/api/endpoints/${uid}/destinations/${created.id}`, { method: 'DELETE' });
    expect(again).toMatchObject({ status: 404, body: { code: 'DESTINATION_NOT_FOUND' } });
  });

  test('a sixth is refused, also in parallel', async () => {
    const uid = await newEndpoint();
    const create = () =>
      client.answerTo(`/api/endpoints/${uid}/destinations`, { method: 'POST', json: { url: 'http://127.0.0.1:9/' } });
    const statuses = (await Promise.all(Array.from({ length: 8 }, create))).map((answer) => answer.status);
    expect(statuses.toSorted()).toEqual([201, 201, 201, 201, 201, 403, 403, 403]);
    expect(await create()).toMatchObject({ status: 403, body: { code: 'TOO_MANY_DESTINATIONS' } });
  });

  test.each([
    [{ url: 'ftp://example.com' }, 400, 'VALIDATION_FAILED', 'Please enter a valid URL'],
    [{ url: 'http://a:b@example.com' }, 400, 'VALIDATION_FAILED', expect.stringMatching(/password/)],
    [{ url: 7 }, 400, 'VALIDATION_FAILED', 'Please enter a valid URL'],
    [{ url: 'http://169.254.169.254/' }, 403, 'TARGET_NOT_ALLOWED', expect.stringMatching(/not allowed/)],
    [{ url: 'http://127.0.0.1:25/' }, 403, 'TARGET_NOT_ALLOWED', expect.stringMatching(/port/)],
    [{ query: 'a OR' }, 400, 'INVALID_QUERY', expect.stringMatching(/^Expected/)],
    [{ query: 'method:POST status:5xx' }, 400, 'INVALID_QUERY', expect.stringMatching(/status:/)],
    [{ query: '-is:saved' }, 400, 'INVALID_QUERY', expect.stringMatching(/is:/)],
    [{ sign: true }, 400, 'VALIDATION_FAILED', expect.stringMatching(/signing secret/)],
    [{ enabled: 'yes' }, 400, 'VALIDATION_FAILED', expect.stringMatching(/enabled/)],
  ])('%j is refused', async (change, code, problem, error) => {
    const uid = await newEndpoint();
    const { id } = await addDestination(uid, { url: 'http://127.0.0.1:9/' });
    const json = { url: 'http://127.0.0.1:9/', ...change };
    const path = `/api/endpoints/${uid}/destinations`;
    const refused = { status: code, body: { code: problem, error } };
    expect(await client.answerTo(path, { method: 'POST', json })).toMatchObject(refused);
    expect(await client.answerTo(`${path}/${id}`, { method: 'PATCH', json: change })).toMatchObject(refused);
  });

  test('the position of a mistake is reported', async () => {
    const uid = await newEndpoint();
    const query = '"say is:new" (method:POST -status:5xx)';
    const json = { url: 'http://127.0.0.1:9/', query };
    expect(await client.answerTo(`/api/endpoints/${uid}/destinations`, { method: 'POST', json })).toMatchObject({
      body: { position: query.indexOf('status:'), fields: { query: expect.any(String) } },
    });
  });

  test('a name that cannot be resolved now is accepted', async () => {
    const uid = await newEndpoint();
    await expect(addDestination(uid, { url: 'http://nowhere.invalid/' })).resolves.toMatchObject({ enabled: true });
  });
});

test.each(['dlv_unknown', '%00', 'a%00b'])('there is no delivery %j to send again', async (id) => {
  const uid = await newEndpoint();
  expect(await client.answerTo(`/api/endpoints/${uid}/deliveries/${id}/retry`, { method: 'POST' })).toMatchObject({
    status: 404,
    body: { code: 'DELIVERY_NOT_FOUND' },
  });
});

test('nothing is sent unsigned after the signing secret is deleted, and everything after it is set again', async () => {
  const uid = await newEndpoint();
  await using target = await openRawTarget();
  const params = { uid };
  const body = { scheme: 'github', secret: 'shhh' } as const;
  await client.call('setSigningSecret', { params, body });
  await addDestination(uid, { url: target.url, sign: true });
  await client.call('deleteSigningSecret', { params });
  const headers = { 'x-hub-signature-256': 'sha256=captured' };
  await client.send(`/h/${uid}`, { method: 'POST', body: 'hello', headers });
  const attempts = () => client.call('listDeliveries', { params: { uid, id: unsavedId(0) } });
  await expect.poll(async () => (await attempts()).length).toBe(1);
  const [failed] = await attempts();
  expect(failed).toMatchObject({
    status: null,
    error: expect.stringContaining('has no signing secret, so the request was not sent. Set the secret, or turn off'),
    nextAttemptAt: expect.any(String),
  });
  expect(target.count()).toBe(0);
  await client.call('setSigningSecret', { params, body });
  await client.call('retryDelivery', { params: { uid, deliveryId: failed?.deliveryId ?? '' } });
  await expect.poll(async () => (await attempts())[0]).toMatchObject({ attempt: 2, status: 200 });
  expect(String(target.received[0])).toMatch(/^x-hub-signature-256: sha256=[0-9a-f]{64}\r$/im);
});

test('a server that stops waits for the planning of a new destination before it closes its store', async () => {
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const events: string[] = [];
  const stopped = await startTestServer({
    openStore: async (dataDir) => {
      const store = await openSqliteStore(dataDir, QUERIES);
      return {
        ...store,
        async matchCaptures(...args: Parameters<typeof store.matchCaptures>) {
          begin();
          await released;
          events.push('planned');
          return store.matchCaptures(...args);
        },
        close() {
          events.push('closed');
          return store.close();
        },
      };
    },
  });
  const owner = await stopped.registerOwner();
  await owner.client.call('createDestination', { params: { uid: owner.uid }, body: { url: 'http://127.0.0.1:9/' } });
  await began;
  const stopping = stopped.stop();
  await Promise.race([stopping, sleep(500)]);
  release();
  await stopping;
  expect(events).toEqual(['planned', 'closed']);
});
