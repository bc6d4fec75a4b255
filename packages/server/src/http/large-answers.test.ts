import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { MAX_ATTEMPTS_PER_REQUEST, unsavedId } from '@creel/contract';
import { rawRequest } from '../../../../fixtures/raw-http.ts';
import { presentPreview, presentRequest } from '../features/requests/service.ts';
import type { TestClient } from '../../test/test-client.ts';
import { startTestServer } from '../../test/test-server.ts';

const MIB = 1024 * 1024;
const LARGEST = 25 * MIB;
/** How many responses of the largest body fit into one user's half of 128 MiB. */
const FIT = 2;

const server = await startTestServer({ settings: { SIGNUPS_PER_HOUR: '1000' } });
afterAll(() => server.stop());

const capture = async (client: TestClient, uid: string, body: Uint8Array<ArrayBuffer> | string): Promise<number> =>
  (await client.send(`/h/${uid}?a=1`, { method: 'POST', body })).status;

const textOf = (piece: string, bytes: number): string => piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)));

test.each([
  ['control characters', Buffer.from(textOf('\u0001\0', 3 * MIB))],
  ['quotes and backslashes', Buffer.from(textOf('"\\', MIB))],
  ['characters of every length', Buffer.from(textOf('aé€😀\uFEFF"', 2 * MIB))],
  ['just over what is small', Buffer.from(textOf('€', 256 * 1024 + 1))],
  ['just what is small', Buffer.alloc(256 * 1024, 1)],
  ['no text', Buffer.concat([Buffer.alloc(MIB, 'x'), Buffer.from([0xff])])],
  ['text cut within a character', Buffer.concat([Buffer.alloc(MIB, 'x'), Buffer.from([0xf0, 0x9f, 0x98])])],
])(
  'one request with a large body, %s, is what JSON.stringify makes of it, and its bytes the bytes',
  async (_, body) => {
    const { client, uid, endpointId } = await server.registerOwner();
    expect(await capture(client, uid, Uint8Array.from(body))).toBe(200);
    const record = await server.store.findRequest(endpointId, { index: 0 });
    if (record === undefined) throw new Error('Nothing was stored');
    const path = `/api/endpoints/${uid}/requests/${unsavedId(0)}`;
    const answer = await client.send(path);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await answer.text()) === JSON.stringify({ ...presentRequest(record), signature: null })).toBe(true);
    const download = await client.send(`${path}/body`);
    expect(download.headers.get('content-length')).toBe(String(body.length));
    expect(Buffer.from(await download.arrayBuffer()).equals(body)).toBe(true);
    expect((await client.send(path, { method: 'HEAD' })).status).toBe(200);
  },
);

test('Node warns of nothing while the response with a large request is sent', async () => {
  const { client, uid } = await server.registerOwner();
  await capture(client, uid, textOf('x', MIB));
  const warnings: string[] = [];
  const warn = (warning: Error): number => warnings.push(warning.message);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  await (await client.send(`/api/endpoints/${uid}/requests/${unsavedId(0)}`)).text();
  expect(warnings).toEqual([]);
});

test('a request that is saved between the reads of its beginning and of its body is found', async () => {
  const { client, uid, endpointId } = await server.registerOwner();
  await capture(client, uid, textOf('x', MIB));
  const { findRequest } = server.store;
  const reads = vi.spyOn(server.store, 'findRequest').mockImplementationOnce(async (...args) => {
    const beginning = await findRequest(...args);
    await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
    return beginning;
  });
  onTestFinished(() => reads.mockRestore());
  const answer = await client.send(`/api/endpoints/${uid}/requests/${unsavedId(0)}/body`);
  expect([answer.status, await answer.text()]).toEqual([200, textOf('x', MIB)]);
  expect(await findRequest(endpointId, { index: 0 }), 'it was saved').toBeUndefined();
});

test("long lists and search results equal JSON.stringify's output", async () => {
  const { client, uid, endpointId } = await server.registerOwner();
  const bodies = ['', 'needle', textOf('needle \u0001"é', 30_000), textOf('needle 😀', 16_385)];
  for (let n = 0; n < 60; n += 1) await capture(client, uid, bodies[n % bodies.length] ?? '');
  const records = await server.store.listRequests({
    endpointId,
    which: 'unsaved',
    limit: 60,
    bodyBytes: 16 * 1024,
  });
  const list = await client.send(`/api/endpoints/${uid}/temp-requests?limit=60`);
  expect((await list.text()) === JSON.stringify(records.map(presentPreview))).toBe(true);
  const found = records
    .filter(({ size }) => size > 0)
    .map((record) => ({ ...presentPreview(record), endpointUid: uid }));
  const search = await client.send('/api/search?q=needle&limit=60');
  expect((await search.text()) === JSON.stringify(found)).toBe(true);
});

test.each(['', '/body'])(
  'clients that read nothing hold at most the share of one user; others have theirs, captures continue, and the memory is free after they disconnect (%s)',
  async (what) => {
    const { client, uid } = await server.registerOwner();
    const neighbour = await server.registerOwner();
    expect(await capture(client, uid, new Uint8Array(LARGEST).fill(1))).toBe(200);
    const path = `/api/endpoints/${uid}/requests/${unsavedId(0)}${what}`;
    const head = rawRequest([`GET ${path} HTTP/1.1`, 'Host: h', `Cookie: ${client.jar.header()}`]);
    const readers: Socket[] = [];
    for (let n = 0; n < FIT; n += 1) readers.push(await silentReader(head));
    const refused = await Promise.all(Array.from({ length: 20 - FIT }, () => client.answerTo(path)));
    for (const { status, body, headers } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      expect(headers.get('content-disposition')).toBeNull();
      expect(body).toMatchObject({ code: 'UNAVAILABLE' });
    }
    expect(await capture(neighbour.client, neighbour.uid, 'at the same time')).toBe(200);
    expect((await neighbour.client.answerTo(`/api/endpoints/${neighbour.uid}/temp-requests`)).status).toBe(200);
    expect((await client.answerTo(`/api/endpoints/${uid}/temp-requests?limit=1`)).status).toBe(200);
    expect(await capture(neighbour.client, neighbour.uid, new Uint8Array(LARGEST))).toBe(200);
    const theirs = `/api/endpoints/${neighbour.uid}/requests/${unsavedId(1)}${what}`;
    expect(await statusAlone(neighbour.client, theirs)).toBe(200);
    for (const reader of readers) reader.destroy();
    // All memory is free: as many fit again.
    const again = () => Promise.all(Array.from({ length: FIT }, () => statusAlone(client, path)));
    await expect.poll(again, { interval: 500 }).toEqual(Array.from({ length: FIT }, () => 200));
  },
);

test('a list of attempts needs memory for all of its bytes', async () => {
  const { client, uid } = await server.registerOwner();
  for (const bytes of [LARGEST, LARGEST, 6 * MIB]) await capture(client, uid, new Uint8Array(bytes).fill(1));
  const report = {
    url: 'http://a/',
    method: 'POST',
    attempt: 1,
    status: 200,
    durationMs: 1,
    at: new Date(server.clock.now()).toISOString(),
    responseHeaders: Array.from({ length: 60 }, () => ({ key: 'name', value: 'v'.repeat(1024) })),
    responseBody: 'b'.repeat(16 * 1024),
  };
  const params = { uid, id: String(unsavedId(0)) };
  for (let nth = 0; nth < MAX_ATTEMPTS_PER_REQUEST; nth++)
    await client.call('reportDelivery', { params, body: report });
  const path = `/api/endpoints/${uid}/requests/${params.id}/deliveries`;
  expect((await client.answerTo(path)).body).toHaveLength(MAX_ATTEMPTS_PER_REQUEST);
  const readers: Socket[] = [];
  for (const index of [0, 1, 2]) {
    const whole = `GET /api/endpoints/${uid}/requests/${unsavedId(index)} HTTP/1.1`;
    readers.push(await silentReader(rawRequest([whole, 'Host: h', `Cookie: ${client.jar.header()}`])));
  }
  expect((await client.answerTo(path)).status).toBe(503);
  for (const reader of readers) reader.destroy();
  await expect.poll(async () => (await client.answerTo(path)).status).toBe(200);
});

test('a small export needs little memory, while two users hold most of it', async () => {
  const readers: Socket[] = [];
  for (const held of [FIT, 1]) {
    const { client, uid } = await server.registerOwner();
    expect(await capture(client, uid, new Uint8Array(LARGEST).fill(1))).toBe(200);
    const path = `/api/endpoints/${uid}/requests/${unsavedId(0)}`;
    const head = rawRequest([`GET ${path} HTTP/1.1`, 'Host: h', `Cookie: ${client.jar.header()}`]);
    for (let n = 0; n < held; n += 1) readers.push(await silentReader(head));
    expect((await client.answerTo('/api/export')).status).toBe(503);
  }
  const { client, uid } = await server.registerOwner();
  expect(await statusAlone(client, '/api/export')).toBe(200);
  expect(await capture(client, uid, 'x'.repeat(MIB))).toBe(200);
  expect(await statusAlone(client, '/api/export')).toBe(200);
  for (const reader of readers) reader.destroy();
});

/** Sends a request, and reads nothing of the response after its start. */
async function silentReader(head: Uint8Array): Promise<Socket> {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  socket.write(head);
  await once(socket, 'readable');
  return socket;
}

async function statusAlone(client: TestClient, path: string): Promise<number> {
  const answer = await client.send(path);
  await answer.body?.cancel();
  return answer.status;
}
