import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_PENDING_DELIVERIES, unsavedId } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heapInUse } from '../../../test/heap-in-use.ts';
import { openLive } from '../../../test/live-viewer.ts';
import { capture } from '../../../test/store-world.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { ENGINES, startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';
import type { OutboundRequest, SendRequest } from '../replay/send-request.ts';

/** Targets by the host of their URL: `dead` never answers, all others answer 200. */
const sending = new Map<string, number>();
let maxSending = 0;
/** Resolves at the end of a server, which would wait for its deliveries. */
let over = Promise.withResolvers<void>();
const received: OutboundRequest[] = [];
const sendRequest: SendRequest = async (request, signal) => {
  const { hostname } = new URL(request.url);
  sending.set(hostname, (sending.get(hostname) ?? 0) + 1);
  maxSending = Math.max(maxSending, sending.get(hostname) ?? 0);
  if (hostname === 'dead.example')
    await Promise.race([over.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
  sending.set(hostname, (sending.get(hostname) ?? 0) - 1);
  received.push(request);
  const head = { status: 200, statusText: 'OK', headers: [] };
  return { ...head, body: Buffer.from('answer'), isCut: false, durationMs: 1 };
};

let server: TestServer;
let client: TestClient;

const newEndpoint = () => client.call('createEndpoint', { body: {} });
const add = (uid: string, url: string) => client.call('createDestination', { params: { uid }, body: { url } });
const pendingOf = async (uid: string): Promise<number | undefined> =>
  (await client.call('listDestinations', { params: { uid } }))[0]?.pending;

describe.each(ENGINES)('on %s', (engine) => {
  beforeAll(async () => {
    received.length = 0;
    maxSending = 0;
    over = Promise.withResolvers();
    const lookUp = (): Promise<string[]> => Promise.resolve(['8.8.8.8']);
    server = await startTestServer({
      engine,
      settings: { DEFAULT_TIER: 'PREMIUM', MAX_UNSAVED_PER_ENDPOINT: '100000' },
      replay: { sendRequest, lookUp },
    });
    ({ client } = await server.register());
  });
  afterAll(async () => {
    const stopped = server.stop();
    await sleep(100);
    over.resolve();
    await stopped;
  });

  test('10,000 waiting deliveries hold ten connections and little memory, also after an hour', async () => {
    const { uid, id } = await newEndpoint();
    await add(uid, 'http://dead.example/');
    const before = heapInUse();
    const batch = Array.from({ length: 1000 }, (_, nth) => ({ to: id, body: `number ${nth}`, at: server.clock.now() }));
    for (let nth = 0; nth < 11; nth += 1) await capture(server.store, batch, { maxUnsaved: 100_000, maxSaved: 10 });
    await expect.poll(() => pendingOf(uid), { interval: 500 }).toBe(MAX_PENDING_DELIVERIES);
    await expect.poll(() => sending.get('dead.example')).toBe(10);
    server.clock.advance(3_600_000);
    const other = await newEndpoint();
    await add(other.uid, 'http://works.example/');
    await client.send(`/h/${other.uid}`, { method: 'POST', body: 'not held up' });
    await expect.poll(() => received.length).toBe(1);
    expect(maxSending).toBe(10);
    expect(heapInUse() - before).toBeLessThan(64 * 1024 * 1024);
    // An attempt is counted after its response is stored.
    await expect
      .poll(async () => (await client.send('/metrics')).text())
      .toMatch(/^creel_delivery_attempts_total\{kind="forward",outcome="delivered"\} 1$/m);
    expect(await (await client.send('/metrics')).text()).toMatch(/^creel_deliveries_pending 10000$/m);
  });

  test.each([
    ['of one user', 'small', 1, 7, 10, 10],
    ['of one user', 'large', 1, 1, 5, 300_000],
    ['of three users', 'small', 3, 7, 5, 10],
    ['of two users', 'large', 2, 1, 5, 300_000],
    ['of five users', 'large', 5, 1, 5, 300_000],
    ['of twenty users', 'small', 20, 1, 10, 10],
  ])('targets %s that hang do not delay another user: %s bodies', async (...[, , users, endpoints, captures, size]) => {
    const body = 'x'.repeat(size);
    const hanging: { owner: TestClient; uid: string }[] = [];
    for (let user = 0; user < users; user += 1) {
      const { client: owner } = await server.register();
      for (let nth = 0; nth < endpoints; nth += 1) {
        const { uid } = await owner.call('createEndpoint', { body: {} });
        for (const path of [1, 2, 3, 4, 5])
          await owner.call('createDestination', { params: { uid }, body: { url: `http://dead.example/${path}` } });
        for (let sent = 0; sent < captures; sent += 1) await owner.send(`/h/${uid}`, { method: 'POST', body });
        hanging.push({ owner, uid });
      }
    }
    const before = received.length;
    const { client: other } = await server.register();
    const { uid } = await other.call('createEndpoint', { body: {} });
    await other.call('createDestination', { params: { uid }, body: { url: 'http://works.example/' } });
    await other.send(`/h/${uid}`, { method: 'POST', body });
    await expect.poll(() => received.length).toBe(before + 1);
    await Promise.all(hanging.map(({ owner, uid: dead }) => owner.call('deleteEndpoint', { params: { uid: dead } })));
    over.resolve();
    over = Promise.withResolvers();
    await expect.poll(() => sending.get('dead.example')).toBe(0);
  });

  test('a viewer gets a message about a capture that waits for its first attempt', async () => {
    const { uid } = await newEndpoint();
    const { id: destination } = await add(uid, 'http://dead.example/');
    await using viewer = await openLive(client, uid);
    await viewer.until((messages) => messages.length > 0);
    await client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
    const isWaiting = (message: LiveMessage): boolean => message.type === 'delivery';
    await viewer.until((messages) => messages.some(isWaiting));
    expect(viewer.messages.find(isWaiting)).toMatchObject({
      data: { index: 0, delivery: { id: 0, attempt: 0, status: null, error: null, nextAttemptAt: expect.any(String) } },
    });
    const request = await client.call('getRequest', { params: { uid, id: unsavedId(0) } });
    expect(request).toMatchObject({ lastDelivery: null, deliveryPending: true });
    const found = await client.call('search', { query: { q: 'is:pending -is:failed', endpoint: uid } });
    expect(found.map(({ index }) => index)).toEqual([0]);
    await client.call('deleteDestination', { params: { uid, id: destination } });
  });

  test('a viewer receives each attempt, without the response', async () => {
    const { uid } = await newEndpoint();
    await add(uid, 'http://works.example/');
    await using viewer = await openLive(client, uid);
    // If the machine is busy, a message that it waits comes first.
    const isAttempt = (message: LiveMessage): boolean =>
      message.type === 'delivery' && message.data.delivery.attempt > 0;
    await viewer.until((messages) => messages.length > 0);
    await client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
    await viewer.until((messages) => messages.some(isAttempt));
    const [attempt] = await client.call('listDeliveries', { params: { uid, id: unsavedId(0) } });
    if (attempt === undefined) throw new Error('There is no attempt.');
    const { responseBody, responseHeaders, responseBodyEncoding, responseTruncated, ...delivery } = attempt;
    const { at } = attempt;
    expect({ responseBody, responseHeaders, responseBodyEncoding, responseTruncated }).toEqual({
      responseBody: 'answer',
      responseHeaders: [],
      responseBodyEncoding: 'utf8',
      responseTruncated: false,
    });
    expect(viewer.messages.find(isAttempt)).toEqual({
      type: 'delivery',
      data: {
        index: 0,
        delivery,
        lastDelivery: { kind: 'forward', status: 200, error: null, at },
        deliveryPending: false,
      },
    });
  });
});
