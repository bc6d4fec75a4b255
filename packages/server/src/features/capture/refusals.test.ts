import { afterEach, describe, expect, test } from 'vitest';
import { chunked, exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { RawAnswer } from '../../../../../fixtures/raw-http.ts';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { standingClock, startTestServer } from '../../../test/test-server.ts';
import type { TestServer, TestServerOptions } from '../../../test/test-server.ts';

/** Responses to senders whose request can't be stored (docs/api.md, "Capture"). */
const HOUR = 3_600_000;
let server: TestServer | undefined;
afterEach(() => server?.stop());

async function startWithEndpoint(options: TestServerOptions = {}) {
  const started = await startTestServer(options);
  server = started;
  const { client, uid } = await started.registerOwner();
  const post = (body = 'x'): Promise<RawAnswer> =>
    exchange(
      { port: started.port },
      rawRequest([`POST /h/${uid} HTTP/1.1`, 'Host: h', `Content-Length: ${body.length}`], body),
    );
  const stored = async (): Promise<number> => (await client.call('getEndpoint', { params: { uid } })).stats.total;
  return { started, client, uid, post, stored };
}

function expectRefusal(answer: RawAnswer, status: number, code: string): void {
  expect({ status: answer.status, type: answer.header('content-type') }).toEqual({ status, type: 'application/json' });
  const body: unknown = JSON.parse(answer.body.toString('utf8'));
  expect(body).toMatchObject({ code, error: expect.any(String), message: expect.any(String) });
  expect(answer.header('access-control-allow-origin')).toBe('*');
  expect(answer.header('content-security-policy')).toBe("sandbox; default-src 'none'");
  expect(answer.header('x-content-type-options')).toBe('nosniff');
}

/** A store that writes captures only on command. */
function moody(): {
  open: (dataDir: string) => Promise<AppStore>;
  mood: 'well' | 'broken' | 'stuck';
  release: () => void;
} {
  const waiting: (() => void)[] = [];
  const state: ReturnType<typeof moody> = {
    mood: 'well',
    release: () => waiting.splice(0).forEach((go) => go()),
    open: async (dataDir) => {
      const store = await openSqliteStore(dataDir, QUERIES);
      const writeCaptures: AppStore['writeCaptures'] = async (batch, limits) => {
        if (state.mood === 'broken') throw new Error('disk I/O error');
        if (state.mood === 'stuck') await new Promise<void>((resolve) => waiting.push(resolve));
        return store.writeCaptures(batch, limits);
      };
      return { ...store, writeCaptures };
    },
  };
  return state;
}

describe('410 ENDPOINT_EXPIRED', () => {
  test('exactly from the moment of expiry', async () => {
    const stopped = standingClock();
    const { started, client, uid, post } = await startWithEndpoint({ clock: stopped });
    const { expiresAt } = await client.call('getEndpoint', { params: { uid } });
    const left = Date.parse(expiresAt ?? '') - started.clock.now();
    started.clock.advance(left - 1);
    expect((await post()).status).toBe(200);
    started.clock.advance(1);
    expectRefusal(await post(), 410, 'ENDPOINT_EXPIRED');
  });

  test('also for an endpoint that is not cached', async () => {
    const { started, post } = await startWithEndpoint();
    started.clock.advance(25 * HOUR);
    expectRefusal(await post(), 410, 'ENDPOINT_EXPIRED');
  });
});

describe('404 ENDPOINT_NOT_FOUND', () => {
  test('after the endpoint is deleted, although it was cached', async () => {
    const { client, uid, post } = await startWithEndpoint();
    expect((await post()).status).toBe(200);
    await client.call('deleteEndpoint', { params: { uid } });
    expectRefusal(await post(), 404, 'ENDPOINT_NOT_FOUND');
  });

  test('when it is deleted while the body arrives', async () => {
    const { started, client, uid } = await startWithEndpoint();
    using connection = await openRaw({ port: started.port });
    await connection.send(rawRequest([`POST /h/${uid} HTTP/1.1`, 'Host: h', 'Content-Length: 4'], 'ha'));
    await client.call('deleteEndpoint', { params: { uid } });
    await connection.send('lf');
    expectRefusal(await connection.final(), 404, 'ENDPOINT_NOT_FOUND');
  });
});

describe('503 CAPTURE_UNAVAILABLE', () => {
  test('while storage is down; captures continue when it is back', async () => {
    const store = moody();
    const { post, stored } = await startWithEndpoint({ openStore: store.open });
    expect((await post()).status).toBe(200);
    store.mood = 'broken';
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => post()))) {
      expectRefusal(answer, 503, 'CAPTURE_UNAVAILABLE');
      expect(Number(answer.header('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    store.mood = 'well';
    expect((await post()).header('x-creel-request')).toBe('1');
    expect(await stored()).toBe(2);
  });

  test('while the queue is full: memory stays bounded, and accepted captures are answered and kept', async () => {
    const store = moody();
    const { started, uid, stored } = await startWithEndpoint({
      openStore: store.open,
      settings: { MAX_UNSAVED_PER_ENDPOINT: '1000000' },
    });
    store.mood = 'stuck';
    const one = rawRequest([`POST /h/${uid} HTTP/1.1`, 'Host: h', 'Content-Length: 0']);
    // A connection has at most 16 in flight.
    const [senders, each] = [600, 20];
    const connections = await Promise.all(Array.from({ length: senders }, () => openRaw({ port: started.port })));
    for (const connection of connections)
      connection.send(Buffer.concat(Array.from({ length: each }, () => one))).catch(() => {});
    // A request that is rejected at once shows that the queue is full.
    const probe = () => exchange({ port: started.port }, one, { timeoutMs: 200 }).catch(() => undefined);
    let refusal: RawAnswer | undefined;
    while (refusal === undefined) refusal = await probe();
    expectRefusal(refusal, 503, 'CAPTURE_UNAVAILABLE');
    store.mood = 'well';
    store.release();
    const statuses = new Map<number, number>();
    for (const connection of connections) {
      for (let at = 0; at < each; at += 1) {
        const { status } = await connection.final();
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      connection.close();
    }
    expect([...statuses.keys()].toSorted()).toEqual([200, 503]);
    // The waiting probes were stored too, unless their sender had left.
    expect(await stored()).toBeGreaterThanOrEqual(statuses.get(200) ?? 0);
    expect((statuses.get(200) ?? 0) + (statuses.get(503) ?? 0)).toBe(senders * each);
  });
});

describe('the bytes after a rejected request', () => {
  test('are rejected outside the capture path too: two Hosts, none, a transfer coding on HTTP/1.0', async () => {
    const { started, uid, stored } = await startWithEndpoint();
    const behind = `POST /h/${uid} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n`;
    for (const bad of [
      'GET /healthz HTTP/1.1\r\nHost: h\r\nHost: other\r\n\r\n',
      'GET /healthz HTTP/1.1\r\n\r\n',
      'POST /api/login HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ]) {
      const connection = await openRaw({ port: started.port });
      connection.send(bad + behind).catch(() => {});
      expect((await connection.final()).status).toBe(400);
      expect((await connection.closed()).toString('latin1')).toBe('');
    }
    expect(await stored()).toBe(0);
  });
});

test('a request after a rejection that closes the connection is not stored', async () => {
  const { started, uid, stored } = await startWithEndpoint({ settings: { MAX_BODY_BYTES: '1000' } });
  const size = 2000;
  const next = `GET /h/${uid}/next HTTP/1.1\r\nHost: h\r\n\r\n`;
  const expecting = `POST /h/unknown HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok`;
  const inChunks = rawRequest([`POST /h/${uid} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked']);
  for (const [status, rejected] of [
    [404, Buffer.from(expecting)],
    [413, Buffer.concat([inChunks, chunked(Buffer.alloc(size, 'x'), size)])],
  ] as const) {
    const connection = await openRaw({ port: started.port });
    await connection.send(Buffer.concat([rejected, Buffer.from(next)]));
    connection.halfClose();
    const answer = await connection.final();
    expect([answer.status, answer.header('connection')]).toEqual([status, 'close']);
    expect((await connection.closed()).toString('latin1')).toBe('');
  }
  expect(await stored()).toBe(0);
});

test('an expired endpoint that becomes a favorite captures again at once', async () => {
  const { started, client, uid, post } = await startWithEndpoint({ settings: { DEFAULT_TIER: 'BASIC' } });
  expect((await post()).status).toBe(200);
  started.clock.advance(8 * 24 * HOUR);
  expectRefusal(await post(), 410, 'ENDPOINT_EXPIRED');
  await client.call('changeEndpoint', { params: { uid }, body: { isFavorite: true } });
  expect((await post()).status).toBe(200);
});
