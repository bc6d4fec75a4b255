import { unsavedId } from '@creel/contract';
import type { DeliveryAttempt } from '@creel/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exchange, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { openRawTarget, saying } from '../../../test/raw-target.ts';
import type { RawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { ENGINES, standingClock, startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

/** Hostile senders and targets, and changes while a request is being sent. */
let server: TestServer;
let client: TestClient;
let target: RawTarget;
let uid: string;

const add = (url: string, more: { appendPath?: boolean } = {}) =>
  client.call('createDestination', { params: { uid }, body: { url, ...more } });
const send = () => client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
const attemptsOf = (index: number): Promise<DeliveryAttempt[]> =>
  client.call('listDeliveries', { params: { uid, id: unsavedId(index) } });
const sendRaw = (lines: readonly string[], body = '', path = '') =>
  exchange(
    { port: server.port },
    rawRequest([`POST /h/${uid}${path} HTTP/1.1`, 'Host: a.example', ...lines], Buffer.from(body)),
  );

async function untilAttempts(index: number, count: number): Promise<DeliveryAttempt[]> {
  await expect.poll(async () => (await attemptsOf(index)).length).toBe(count);
  return attemptsOf(index);
}

/** The head of a request that the target received. */
async function headOf(nth: number): Promise<string[]> {
  await expect.poll(() => target.received[nth]?.includes('\r\n\r\n')).toBe(true);
  return (target.received[nth]?.toString('latin1').split('\r\n\r\n')[0] ?? '').split('\r\n');
}

const start = (engine?: (typeof ENGINES)[number], maxMs?: number) =>
  startTestServer({
    ...(engine && { engine }),
    settings: { DEFAULT_TIER: 'PREMIUM' },
    // No second attempt begins by itself.
    clock: standingClock(),
    ...(maxMs !== undefined && { replay: { maxMs } }),
  });

/** Starts a server for the tests of a group. Each of them has its own target. */
function useServer(...options: Parameters<typeof start>): void {
  beforeAll(async () => {
    server = await start(...options);
  });
  afterAll(() => server.stop());
  afterEach(() => target.close());
}

async function fresh(at = server): Promise<void> {
  ({ client, uid } = await at.registerOwner());
  target = await openRawTarget();
}

describe('a sender', () => {
  useServer();

  test('cannot remove headers of the server by naming them in Connection', async () => {
    await fresh();
    await add(target.url);
    const named = 'creel-delivery, creel-attempt, creel-via, content-length, host, x-own';
    await sendRaw([`Connection: ${named}`, 'X-Own: 1', 'X-Kept: 2', 'Content-Length: 2'], 'ab');
    const head = await headOf(0);
    expect(head.slice(1).map((line) => line.split(':')[0])).toEqual([
      'Host',
      'X-Kept',
      'Creel-Delivery',
      'Creel-Attempt',
      'Creel-Via',
      'User-Agent',
      'Content-Length',
      'Connection',
    ]);
    expect(head).toContain(`Host: 127.0.0.1:${target.port}`);
    expect(head).toContain('Content-Length: 2');
  });

  test('cannot make a loop by naming the mark of forwarding in Connection', async () => {
    await fresh();
    await add(`${server.origin}/h/${uid}`);
    await sendRaw(['Connection: creel-via', 'Content-Length: 0']);
    const refusal = async () =>
      (await client.call('listUnsaved', { params: { uid } })).find(({ index }) => index === 1)?.lastDelivery?.error;
    await expect.poll(refusal).toMatch(/^Not forwarded: .*loop/);
    expect(await client.call('listUnsaved', { params: { uid } })).toHaveLength(2);
  });

  test('cannot choose the delivery, the framing or the protocol of the request', async () => {
    await fresh();
    await add(target.url);
    await sendRaw(
      [
        'Creel-Delivery: dlv_mine',
        'CREEL-ATTEMPT: 77',
        'Transfer-Encoding: chunked',
        'TE: trailers',
        'Trailer: X-Late',
        'Keep-Alive: timeout=9',
        'Proxy-Authorization: Basic eDp5',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
        'Expect: 100-continue',
      ],
      '3\r\nabc\r\n0\r\nX-Late: 1\r\n\r\n',
    );
    const head = await headOf(0);
    expect(head.filter((line) => /^creel-delivery:/i.test(line))).toEqual([
      expect.stringMatching(/^Creel-Delivery: dlv_[0-9a-f]{12}[\w-]{22}$/),
    ]);
    expect(head).toContain('Creel-Attempt: 1');
    expect(head).toContain('Content-Length: 3');
    const names = /^(transfer-encoding|te|trailer|keep-alive|proxy-authorization|upgrade|http2-settings|expect):/i;
    expect(head.filter((line) => names.test(line))).toEqual([]);
  });

  test.each(['/../admin', '/a/%2e%2E/admin', '/..;x=1/admin', '/..%2fadmin', '/a/..'])(
    'cannot leave the path of a destination with %s',
    async (path) => {
      await fresh();
      await add(`${target.url}/hooks`, { appendPath: true });
      await sendRaw(['Content-Length: 0'], '', path);
      const [attempt] = await untilAttempts(0, 1);
      expect(attempt).toMatchObject({ status: null, error: expect.stringContaining("destination's path") });
      expect(target.count()).toBe(0);
    },
  );

  test('sends dots that stay in their segment, and any path to a destination without one', async () => {
    await fresh();
    await add(`${target.url}/hooks`, { appendPath: true });
    await sendRaw(['Content-Length: 0'], '', '/v1...2/..x/.?to=/../');
    expect((await headOf(0))[0]).toBe('POST /hooks/v1...2/..x/.?to=/../ HTTP/1.1');
    const [{ id } = { id: 0 }] = await client.call('listDestinations', { params: { uid } });
    await client.call('changeDestination', { params: { uid, id }, body: { url: target.url } });
    await sendRaw(['Content-Length: 0'], '', '/../x');
    expect((await headOf(1))[0]).toBe('POST /../x HTTP/1.1');
  });
});

describe('a target', () => {
  useServer();

  test.each([
    ['an endless body', 'HTTP/1.1 200 OK\r\n\r\n', { status: 200, responseTruncated: true }],
    ['an endless head', 'HTTP/1.1 200 OK\r\nX: ', { status: null, error: expect.any(String) }],
    ['endless interim answers', 'HTTP/1.1 102 Wait\r\n\r\n', { status: null, error: expect.any(String) }],
  ])('with %s holds a bounded part', async (_, beginning, outcome) => {
    await fresh();
    const isInterim = beginning.includes('102');
    target.answer = (socket) => {
      socket.write(beginning);
      const more = Buffer.from(isInterim ? beginning.repeat(1000) : 'x'.repeat(64 * 1024));
      const write = (): void => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', write).on('error', () => undefined);
      write();
    };
    await add(target.url);
    await send();
    const [attempt] = await untilAttempts(0, 1);
    expect(attempt).toMatchObject(outcome);
    expect(attempt?.responseBody?.length ?? 0).toBeLessThanOrEqual(16 * 1024);
  });

  test('that redirects is not followed, and the redirect counts as a failure', async () => {
    await fresh();
    await using inside = await openRawTarget();
    target.answer = saying(`HTTP/1.1 307 Elsewhere\r\nLocation: ${inside.url}/\r\nContent-Length: 0\r\n\r\n`);
    await add(target.url);
    await send();
    expect((await untilAttempts(0, 1))[0]).toMatchObject({ status: 307, nextAttemptAt: expect.any(String) });
    expect(inside.count()).toBe(0);
  });
});

const MANY_HEADERS = Array.from({ length: 1000 }, (_, nth) => `X-${nth}: v\r\n`).join('');

describe.each(ENGINES)('an unusual answer is stored, on %s', (engine) => {
  useServer(engine);

  test.each([
    ['of HTTP/1.0, with the end of the connection as its end', 'HTTP/1.0 200 OK\r\n\r\nyes', { status: 200 }],
    ['with bytes of no character set', 'HTTP/1.1 200 \xff\xfe\r\nX-Y: \xe9\xff\r\n\r\n\xff', { status: 200 }],
    [
      'with NUL in its reason and its body',
      'HTTP/1.1 500 a\0b\r\n\r\n\0',
      { statusText: 'a\uFFFDb', responseBody: '\0' },
    ],
    [
      'with a reason of 50,000 characters',
      `HTTP/1.1 500 ${'r'.repeat(50_000)}\r\n\r\n`,
      { statusText: 'r'.repeat(1000) },
    ],
    ['with NUL in a header', 'HTTP/1.1 500 No\r\nX-Y: a\0b\r\n\r\n', { status: null }],
    ['with 1,000 headers', `HTTP/1.1 200 OK\r\n${MANY_HEADERS}\r\n`, { status: 200 }],
    ['with a status of no class', 'HTTP/1.1 999 What\r\n\r\n', { status: 999 }],
    [
      'with a status below 100',
      'HTTP/1.1 099 What\r\n\r\n',
      { status: null, error: expect.stringMatching(/not HTTP/) },
    ],
    ['with a status that is no number', 'HTTP/1.1 OK\r\n\r\n', { status: null }],
    ['of another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', { status: null }],
    ['that ends in its head', 'HTTP/1.1 200 OK\r\nContent-Le', { status: null }],
    ['that ends in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour', { responseBody: 'four' }],
    ['with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', { status: null }],
    ['that is empty', '', { status: null, error: expect.any(String) }],
  ])('%s', async (_, bytes, outcome) => {
    await fresh();
    target.answer = saying(bytes);
    await add(target.url);
    await send();
    const [attempt] = await untilAttempts(0, 1);
    expect(attempt).toMatchObject(outcome);
    expect(await client.call('getRequest', { params: { uid, id: unsavedId(0) } })).toMatchObject({
      lastDelivery: { status: attempt?.status },
    });
  });

  test('that arrives one byte per second ends at the time limit', async () => {
    await using hasty = await start(engine, 2000);
    await fresh(hasty);
    target.answer = (socket) => {
      const bytes = 'HTTP/1.1 200 OK\r\n\r\n';
      let sent = 0;
      const timer = setInterval(() => void socket.write(bytes[sent++] ?? 'x'), 1000);
      socket.on('close', () => clearInterval(timer));
    };
    await add(target.url);
    await send();
    expect((await untilAttempts(0, 1))[0]).toMatchObject({ status: null, error: expect.stringMatching(/within/) });
  });

  test('also in a report of creel forward, but not in a condition', async () => {
    await fresh();
    await send();
    const body = {
      url: 'http://localhost:1/',
      method: 'POST',
      attempt: 1,
      status: 500,
      statusText: 'a\0b',
      error: 'c\0d',
      durationMs: 1,
      at: new Date(server.clock.now()).toISOString(),
      responseHeaders: [{ key: 'x', value: 'e\0f' }],
      responseBody: '\0',
    };
    const path = `/api/endpoints/${uid}/requests/${unsavedId(0)}/deliveries`;
    expect(await client.answerTo(path, { method: 'POST', json: body })).toMatchObject({
      status: 201,
      body: { statusText: 'a\uFFFDb', error: 'c\uFFFDd', responseHeaders: [{ key: 'x', value: 'e\0f' }] },
    });
    const query = 'body:"a\0b"';
    const created = await client.answerTo(`/api/endpoints/${uid}/destinations`, {
      method: 'POST',
      json: { url: target.url, query },
    });
    expect(created).toMatchObject({ status: 400, body: { fields: { query: expect.stringMatching(/NUL/) } } });
  });
});

describe('a report of creel forward', () => {
  useServer();

  test('with a time before the capture or in the future is rejected, unless a clock may be wrong', async () => {
    await fresh();
    await send();
    const [captured] = await client.call('listUnsaved', { params: { uid } });
    const hours = (count: number): string =>
      new Date(Date.parse(captured?.timestamp ?? '') + count * 3_600_000).toISOString();
    const report = (at: string) =>
      client.answerTo(`/api/endpoints/${uid}/requests/${unsavedId(0)}/deliveries`, {
        method: 'POST',
        json: { url: 'http://localhost:1/', method: 'POST', attempt: 1, status: 200, durationMs: 1, at },
      });
    const error = 'at must be between the time of the capture and now';
    for (const at of ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00Z', hours(-25), hours(25), '9999-12-31T23:59:59Z'])
      expect(await report(at)).toMatchObject({ status: 400, body: { fields: { at: error } } });
    for (const at of [hours(-23), hours(0), hours(23)]) expect((await report(at)).status).toBe(201);
  });
});

describe.each(ENGINES)('while a request is on its way, on %s', (engine) => {
  /** Answers 500 when the test lets it. */
  let answerAll = Promise.withResolvers<void>();
  // An attempt that ends before the test lets it is repeated when its destination is turned on.
  useServer(engine, 60_000);

  async function underWay(): Promise<number> {
    await fresh();
    answerAll = Promise.withResolvers();
    target.answer = (socket) => void answerAll.promise.then(() => saying('HTTP/1.1 500 No\r\n\r\n')(socket));
    const { id } = await add(target.url);
    await send();
    await expect.poll(() => target.count()).toBe(1);
    return id;
  }
  /** The server still forwards. */
  async function expectForwarding(): Promise<void> {
    const other = (await client.call('createEndpoint', { body: {} })).uid;
    await using works = await openRawTarget();
    await client.call('createDestination', { params: { uid: other }, body: { url: works.url } });
    await client.send(`/h/${other}`, { method: 'POST', body: 'x' });
    await expect.poll(() => works.count()).toBe(1);
  }

  test('its destination is deleted: the attempt is kept, and nothing follows', async () => {
    const id = await underWay();
    await client.call('deleteDestination', { params: { uid, id } });
    answerAll.resolve();
    const [attempt] = await untilAttempts(0, 1);
    expect(attempt).toMatchObject({ status: 500, destinationId: null, nextAttemptAt: null });
    const retry = `/api/endpoints/${uid}/deliveries/${attempt?.deliveryId}/retry`;
    const error = 'Its destination is deleted. Replay the request instead.';
    expect(await client.answerTo(retry, { method: 'POST' })).toMatchObject({ status: 409, body: { error } });
    server.clock.advance(60_000);
    await expectForwarding();
    expect(target.count()).toBe(1);
  });

  test('its endpoint is deleted: nothing is stored', async () => {
    await underWay();
    const record = await server.store.findEndpoint(uid);
    await client.call('deleteEndpoint', { params: { uid } });
    answerAll.resolve();
    await expectForwarding();
    while (await server.store.purgeSome(100));
    expect(await server.store.listAttempts(record?.id ?? 0, 0)).toEqual([]);
  });

  test('its request is deleted: nothing is stored and nothing waits', async () => {
    await underWay();
    const endpoint = await server.store.findEndpoint(uid);
    await client.call('deleteRequest', { params: { uid, id: unsavedId(0) } });
    answerAll.resolve();
    await expectForwarding();
    expect(await server.store.listAttempts(endpoint?.id ?? 0, 0)).toEqual([]);
    expect(await client.call('listDestinations', { params: { uid } })).toMatchObject([{ pending: 0 }]);
  });

  test('the URL is changed: the next attempt goes to the new one', async () => {
    const id = await underWay();
    await using next = await openRawTarget();
    await client.call('changeDestination', { params: { uid, id }, body: { url: next.url } });
    answerAll.resolve();
    expect((await untilAttempts(0, 1))[0]?.url).toBe(target.url);
    server.clock.advance(10_000);
    expect((await untilAttempts(0, 2))[0]).toMatchObject({ url: next.url, status: 200, attempt: 2 });
  });

  test('it is sent again twice at once: that is one more attempt, and none while one is under way', async () => {
    await underWay();
    const known = await server.store.findEndpoint(uid);
    const [planned] = await server.store.listPlanned(known?.id ?? 0, 0);
    const params = { uid, deliveryId: planned?.deliveryId ?? '' };
    const retryTwice = () => Promise.all([1, 2].map(() => client.call('retryDelivery', { params })));
    await retryTwice();
    answerAll.resolve();
    await untilAttempts(0, 1);
    await expectForwarding();
    expect(target.count()).toBe(1);

    answerAll = Promise.withResolvers();
    await retryTwice();
    answerAll.resolve();
    await untilAttempts(0, 2);
    await expectForwarding();
    expect((await attemptsOf(0)).map(({ attempt }) => attempt)).toEqual([2, 1]);
    expect(target.count()).toBe(2);
  });

  test('it is turned off and on at once: it is sent once', async () => {
    const id = await underWay();
    const params = { uid, id };
    for (const enabled of [false, true, false, true])
      await client.call('changeDestination', { params, body: { enabled } });
    target.answer = saying('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    answerAll.resolve();
    await untilAttempts(0, 1);
    await expectForwarding();
    expect(target.count()).toBe(1);
  });
});
