import { MAX_DELIVERY_RESPONSE_BYTES, unsavedId } from '@creel/contract';
import type { CapturedRequest, DeliveryAttempt, Destination, DestinationCreate } from '@creel/contract';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openRawTarget, saying } from '../../../test/raw-target.ts';
import type { RawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { standingClock, startTestServer } from '../../../test/test-server.ts';

let client: TestClient;
const targets: RawTarget[] = [];

afterEach(async () => {
  await Promise.all(targets.splice(0).map((target) => target.close()));
});

async function openTarget(answer?: RawTarget['answer']): Promise<RawTarget> {
  const target = await openRawTarget();
  if (answer !== undefined) target.answer = answer;
  targets.push(target);
  return target;
}

const status = (code: number, more = ''): RawTarget['answer'] =>
  saying(`HTTP/1.1 ${code} Said\r\n${more}Content-Length: 2\r\n\r\nok`);

async function newEndpoint(): Promise<string> {
  const owner = await server.registerOwner();
  client = owner.client;
  return owner.uid;
}

const addDestination = (uid: string, body: Partial<DestinationCreate> & { url: string }): Promise<Destination> =>
  client.call('createDestination', { params: { uid }, body });
const send = (uid: string, body = 'hello', path = '', headers: Record<string, string> = {}) =>
  client.send(`/h/${uid}${path}`, { method: 'POST', body, headers });
const attemptsOf = (uid: string, index: number): Promise<DeliveryAttempt[]> =>
  client.call('listDeliveries', { params: { uid, id: unsavedId(index) } });
const requestAt = (uid: string, index: number): Promise<CapturedRequest> =>
  client.call('getRequest', { params: { uid, id: unsavedId(index) } });
const textsOf = (target: RawTarget): string[] => target.received.map((bytes) => bytes.toString('latin1'));
const bodiesOf = (target: RawTarget): (string | undefined)[] =>
  textsOf(target).map((text) => text.split('\r\n\r\n')[1]);

/** Waits for a request's attempts. */
async function untilAttempts(uid: string, index: number, count: number): Promise<DeliveryAttempt[]> {
  await expect.poll(async () => (await attemptsOf(uid, index)).length).toBe(count);
  return attemptsOf(uid, index);
}

async function searched(q: string, uid: string): Promise<number[]> {
  const found = await client.call('search', { query: { q, endpoint: uid } });
  return found.map(({ index }) => index);
}

const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM' }, clock: standingClock() });
afterAll(() => server.stop());

describe('forwarding', () => {
  test('sends captures from now on, as they came, with the delivery and the attempt', async () => {
    const uid = await newEndpoint();
    await send(uid, 'before');
    const target = await openTarget();
    const { id } = await addDestination(uid, { url: `${target.url}/hook?k=1`, query: 'body:hello' });
    await send(uid, 'other');
    await send(uid, 'hello', '/path?q=2', { 'X-Some': 'value' });
    const [attempt] = await untilAttempts(uid, 2, 1);
    expect(attempt).toMatchObject({
      kind: 'forward',
      destinationId: id,
      url: `${target.url}/hook?k=1`,
      method: 'POST',
      attempt: 1,
      status: 200,
      error: null,
      nextAttemptAt: null,
      responseBody: null,
      responseTruncated: false,
    });
    const [text = ''] = textsOf(target);
    expect(target.count()).toBe(1);
    expect(text).toMatch(/^POST \/hook\?k=1 HTTP\/1\.1\r\n/);
    expect(text).toMatch(/\r\nx-some: value\r\n/i);
    expect(text).toContain(`\r\nCreel-Delivery: ${attempt?.deliveryId}\r\nCreel-Attempt: 1\r\n`);
    expect(text.endsWith('\r\n\r\nhello')).toBe(true);
    expect(await requestAt(uid, 2)).toMatchObject({
      lastDelivery: { kind: 'forward', status: 200, error: null, at: attempt?.at },
      deliveryPending: false,
    });
    expect(await requestAt(uid, 1)).toMatchObject({ lastDelivery: null });
    expect(await searched('status:200', uid)).toEqual([2]);
  });

  test('appends the path and the query, and several destinations get the same', async () => {
    const uid = await newEndpoint();
    const [one, two] = [await openTarget(), await openTarget()];
    await addDestination(uid, { url: `${one.url}/base/`, appendPath: true });
    await addDestination(uid, { url: two.url });
    await send(uid, 'x', '/a%2Fb?c=%20');
    await untilAttempts(uid, 0, 2);
    expect(textsOf(one)[0]).toMatch(/^POST \/base\/a%2Fb\?c=%20 HTTP/);
    expect(textsOf(two)[0]).toMatch(/^POST \/ HTTP/);
  });

  test('first attempts leave in the order of capture', async () => {
    const uid = await newEndpoint();
    const target = await openTarget();
    await addDestination(uid, { url: target.url });
    const bodies = Array.from({ length: 60 }, (_, nth) => `number ${nth}`);
    for (const body of bodies) await send(uid, body);
    await expect.poll(() => target.count()).toBe(60);
    await expect.poll(() => bodiesOf(target)).toEqual(bodies);
  });

  test('a failed delivery waits, is the same in each attempt, and does not delay others', async () => {
    const uid = await newEndpoint();
    let isBroken = true;
    const target = await openTarget((socket) => status(isBroken ? 503 : 204)(socket));
    await addDestination(uid, { url: target.url });
    await send(uid, 'first');
    const [first] = await untilAttempts(uid, 0, 1);
    expect(first).toMatchObject({
      status: 503,
      statusText: 'Said',
      responseBody: 'ok',
      nextAttemptAt: expect.any(String),
    });
    const waits = Date.parse(first?.nextAttemptAt ?? '') - Date.parse(first?.at ?? '');
    expect(waits).toBeGreaterThanOrEqual(5000);
    expect(await searched('is:failed is:pending', uid)).toEqual([0]);
    isBroken = false;
    await send(uid, 'second');
    await untilAttempts(uid, 1, 1);
    expect(await attemptsOf(uid, 0)).toHaveLength(1);
    server.clock.advance(7000);
    const [again, earlier] = await untilAttempts(uid, 0, 2);
    expect(again).toMatchObject({ attempt: 2, status: 204, nextAttemptAt: null, deliveryId: first?.deliveryId });
    expect(earlier).toEqual({ ...first, nextAttemptAt: null });
    expect(bodiesOf(target)).toEqual(['first', 'second', 'first']);
    expect(await searched('is:delivered', uid)).toEqual([1, 0]);
    expect(await searched('is:pending', uid)).toEqual([]);
  });

  test('Retry-After lengthens the wait', async () => {
    const uid = await newEndpoint();
    const target = await openTarget(status(429, 'Retry-After: 3600\r\n'));
    await addDestination(uid, { url: target.url });
    await send(uid);
    const [attempt] = await untilAttempts(uid, 0, 1);
    expect(Date.parse(attempt?.nextAttemptAt ?? '') - Date.parse(attempt?.at ?? '')).toBeGreaterThanOrEqual(3_600_000);
  });

  test('a target that refuses connections has a sentence', async () => {
    const uid = await newEndpoint();
    await addDestination(uid, { url: 'http://127.0.0.1:9/' });
    await send(uid);
    expect((await untilAttempts(uid, 0, 1))[0]).toMatchObject({
      status: null,
      error: expect.stringMatching(/refused the connection/),
    });
    expect(await requestAt(uid, 0)).toMatchObject({ lastDelivery: { status: null, error: expect.any(String) } });
  });

  test('while it is off nothing is planned, and pending deliveries wait for the changed URL', async () => {
    const uid = await newEndpoint();
    const [broken, works] = [await openTarget(status(500)), await openTarget()];
    const { id } = await addDestination(uid, { url: broken.url });
    const params = { uid, id };
    await send(uid, 'pending');
    const [pending] = await untilAttempts(uid, 0, 1);
    expect(await client.call('changeDestination', { params, body: { enabled: false } })).toMatchObject({
      pending: 1,
    });
    const retry = `/api/endpoints/${uid}/deliveries/${pending?.deliveryId}/retry`;
    const error = 'Its destination is off. Turn it on, then send again.';
    expect(await client.answerTo(retry, { method: 'POST' })).toMatchObject({ status: 409, body: { error } });
    await send(uid, 'while off');
    await client.call('changeDestination', { params, body: { url: works.url, enabled: true } });
    await send(uid, 'after');
    await untilAttempts(uid, 2, 1);
    await untilAttempts(uid, 0, 2);
    expect(bodiesOf(works).toSorted()).toEqual(['after', 'pending']);
    expect(await attemptsOf(uid, 1)).toEqual([]);
  });

  test('is paused after 50 failures in a row, keeps everything, and resumes', async () => {
    const uid = await newEndpoint();
    let isBroken = true;
    const target = await openTarget((socket) => status(isBroken ? 500 : 200)(socket));
    const { id } = await addDestination(uid, { url: target.url });
    for (let nth = 0; nth < 52; nth += 1) await send(uid, `number ${nth}`);
    const current = async () => (await client.call('listDestinations', { params: { uid } }))[0];
    await expect.poll(async () => (await current())?.state.name).toBe('paused');
    expect((await current())?.state).toMatchObject({ reason: '50 attempts in a row failed. The last one: 500 Said' });
    await send(uid, 'while paused');
    await expect.poll(async () => (await current())?.pending).toBe(53);
    const [attempt] = await attemptsOf(uid, 0);
    const retry = `/api/endpoints/${uid}/deliveries/${attempt?.deliveryId}/retry`;
    expect(await client.answerTo(retry, { method: 'POST' })).toMatchObject({
      status: 409,
      body: { code: 'DELIVERY_NOT_RETRYABLE', error: 'Its destination is paused. Resume it, then send again.' },
    });
    isBroken = false;
    const resumed = await client.call('changeDestination', { params: { uid, id }, body: { enabled: true } });
    expect(resumed.state).toEqual({ name: 'active' });
    await expect.poll(async () => (await current())?.pending).toBe(0);
    expect(new Set(bodiesOf(target)).size).toBe(53);
  });

  test('deleting a destination ends its deliveries, and the history keeps the URL', async () => {
    const uid = await newEndpoint();
    const target = await openTarget(status(500));
    const { id } = await addDestination(uid, { url: target.url });
    await send(uid);
    const [attempt] = await untilAttempts(uid, 0, 1);
    await client.call('deleteDestination', { params: { uid, id } });
    expect(await attemptsOf(uid, 0)).toEqual([{ ...attempt, destinationId: null, nextAttemptAt: null }]);
    const retry = `/api/endpoints/${uid}/deliveries/${attempt?.deliveryId}/retry`;
    const error = 'Its destination is deleted. Replay the request instead.';
    expect(await client.answerTo(retry, { method: 'POST' })).toMatchObject({ status: 409, body: { error } });
  });

  test('deliveries that wait for their first attempt are listed on request, and end with their destination', async () => {
    const uid = await newEndpoint();
    const [works, hangs] = [await openTarget(), await openTarget(() => undefined)];
    await addDestination(uid, { url: works.url });
    const { id } = await addDestination(uid, { url: `${hangs.url}/base`, appendPath: true });
    await addDestination(uid, { url: works.url, query: 'method:PUT' });
    await send(uid, 'x', '/path?q=1');
    const [attempt] = await untilAttempts(uid, 0, 1);
    const params = { uid, id: unsavedId(0) };
    const listed = () => client.call('listDeliveries', { params, query: { planned: 'true' } });
    expect(await listed()).toEqual([
      expect.objectContaining({
        id: 0,
        deliveryId: expect.stringMatching(/^dlv_/),
        kind: 'forward',
        destinationId: id,
        url: `${hangs.url}/base/path?q=1`,
        method: 'POST',
        attempt: 0,
        nextAttemptAt: expect.any(String),
      }),
      attempt,
    ]);
    expect(await client.answerTo(`/api/endpoints/${uid}/requests/${params.id}/deliveries?planned=yes`)).toMatchObject({
      status: 400,
      body: { error: 'planned must be true or false' },
    });
    await client.call('deleteDestination', { params: { uid, id } });
    expect(await listed()).toEqual([attempt]);
    expect(await requestAt(uid, 0)).toMatchObject({ lastDelivery: { status: 200 }, deliveryPending: false });
  });

  test('a retry sends again at once, after a failure and after a success', async () => {
    const uid = await newEndpoint();
    let code = 500;
    const target = await openTarget((socket) => status(code)(socket));
    await addDestination(uid, { url: target.url });
    await send(uid);
    const [attempt] = await untilAttempts(uid, 0, 1);
    const params = { uid, deliveryId: attempt?.deliveryId ?? '' };
    code = 200;
    await client.call('retryDelivery', { params });
    expect((await untilAttempts(uid, 0, 2))[0]).toMatchObject({ attempt: 2, status: 200, nextAttemptAt: null });
    await client.call('retryDelivery', { params });
    expect((await untilAttempts(uid, 0, 3))[0]).toMatchObject({ attempt: 3, deliveryId: params.deliveryId });
  });

  test('a long response is cut at 16 KiB, at a whole character', async () => {
    const uid = await newEndpoint();
    const body = 'ü'.repeat(20_000);
    const target = await openTarget(
      saying(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)),
    );
    await addDestination(uid, { url: target.url });
    await send(uid);
    const [attempt] = await untilAttempts(uid, 0, 1);
    expect(attempt).toMatchObject({ status: 200, responseTruncated: true, responseBodyEncoding: 'utf8' });
    expect(attempt?.responseBody).toBe('ü'.repeat(MAX_DELIVERY_RESPONSE_BYTES / 2));
  });

  test('a request that is deleted is not sent any more', async () => {
    const uid = await newEndpoint();
    const target = await openTarget(status(500));
    const { id } = await addDestination(uid, { url: target.url });
    await send(uid);
    await untilAttempts(uid, 0, 1);
    await client.call('deleteRequest', { params: { uid, id: unsavedId(0) } });
    expect((await client.call('listDestinations', { params: { uid } }))[0]).toMatchObject({ id, pending: 0 });
  });
});

describe('a loop', () => {
  test('within the server is stopped at the first turn, and says why', async () => {
    const uid = await newEndpoint();
    await addDestination(uid, { url: `${server.origin}/h/${uid}` });
    await send(uid, 'around');
    await untilAttempts(uid, 0, 1);
    const refusal = async () => (await requestAt(uid, 1)).lastDelivery?.error;
    await expect.poll(refusal).toMatch(/^Not forwarded: .*loop/);
    expect(await attemptsOf(uid, 1)).toEqual([]);
    expect((await client.call('listUnsaved', { params: { uid } })).length).toBe(2);
  });

  test('over another server is stopped when it comes back', async () => {
    const uid = await newEndpoint();
    await using other = await startTestServer();
    const { client: theirs } = await other.register();
    const there = await theirs.call('createEndpoint', { body: {} });
    const way = { params: { uid: there.uid }, body: { url: `${server.origin}/h/${uid}` } };
    await theirs.call('createDestination', way);
    await addDestination(uid, { url: `${other.origin}/h/${there.uid}` });
    await send(uid, 'around');
    const count = async () => (await client.call('listUnsaved', { params: { uid } })).length;
    await expect.poll(count).toBe(2);
    await expect.poll(async () => (await requestAt(uid, 1)).lastDelivery?.error).toMatch(/loop/);
    expect((await theirs.call('listUnsaved', { params: { uid: there.uid } })).length).toBe(1);
  });
});

describe('other attempts', () => {
  test('creel forward reports the response of the program', async () => {
    const uid = await newEndpoint();
    await send(uid);
    const body = {
      url: 'http://localhost:4000/',
      method: 'POST',
      attempt: 2,
      status: 500,
      statusText: 'Internal Server Error',
      error: null,
      durationMs: 12.6,
      at: new Date(server.clock.now()).toISOString(),
      responseHeaders: [{ key: 'X-A', value: '1' }],
      responseBody: 'x'.repeat(20_000),
    };
    const created = await client.call('reportDelivery', { params: { uid, id: unsavedId(0) }, body });
    expect(created).toMatchObject({
      kind: 'cli',
      destinationId: null,
      attempt: 2,
      status: 500,
      durationMs: 13,
      responseHeaders: [{ key: 'X-A', value: '1' }],
      responseTruncated: true,
      nextAttemptAt: null,
    });
    expect(created.responseBody).toHaveLength(MAX_DELIVERY_RESPONSE_BYTES);
    expect(await attemptsOf(uid, 0)).toEqual([created]);
    expect(await requestAt(uid, 0)).toMatchObject({ lastDelivery: { kind: 'cli', status: 500 } });
    const retry = `/api/endpoints/${uid}/deliveries/${created.deliveryId}/retry`;
    const error = 'Only a destination can send a delivery again. Replay the request instead.';
    expect(await client.answerTo(retry, { method: 'POST' })).toMatchObject({ status: 409, body: { error } });
  });

  test('a replay is recorded if it names its request', async () => {
    const uid = await newEndpoint();
    const target = await openTarget(status(418));
    await send(uid);
    const of = { endpointUid: uid, id: unsavedId(0) };
    const replay = (more: object) =>
      client.answerTo('/api/replay', {
        method: 'POST',
        json: { method: 'PUT', url: target.url, headers: [], ...more },
      });
    await replay({});
    expect(await attemptsOf(uid, 0)).toEqual([]);
    await replay({ of, body: 'edited' });
    await replay({ bodyFrom: of });
    await replay({ of, url: 'http://127.0.0.1:9/' });
    expect(await attemptsOf(uid, 0)).toMatchObject([
      { kind: 'replay', status: null, error: expect.stringMatching(/refused/), attempt: 1 },
      { kind: 'replay', status: 418, method: 'PUT', destinationId: null },
      { kind: 'replay', status: 418, responseBody: 'ok' },
    ]);
    expect(await replay({ of: { endpointUid: uid, id: unsavedId(9) } })).toMatchObject({ status: 404 });
  });

  test('the last 50 attempts are kept', async () => {
    const uid = await newEndpoint();
    await send(uid);
    const report = (attempt: number) => ({
      url: 'http://localhost:4000/',
      method: 'POST',
      attempt,
      status: 200,
      error: null,
      durationMs: 1,
      at: new Date(server.clock.now()).toISOString(),
    });
    const params = { uid, id: unsavedId(0) };
    for (let attempt = 1; attempt <= 53; attempt += 1)
      await client.call('reportDelivery', { params, body: report(attempt) });
    const attempts = await attemptsOf(uid, 0);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 50 }, (_, nth) => 53 - nth));
  });
});
