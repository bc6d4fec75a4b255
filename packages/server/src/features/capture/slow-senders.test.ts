import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../../fixtures/raw-http.ts';
import { startTestServer } from '../../../test/test-server.ts';

/**
 * Slow senders are cut off and do not affect others, with shorter timeouts than in production. They are longer than a busy
 * machine needs for a quick request.
 */
const server = await startTestServer({
  settings: { DEFAULT_TIER: 'PREMIUM', MAX_UNSAVED_PER_ENDPOINT: '100000' },
  timeouts: { headersMs: 3000, requestMs: 5000, checkMs: 100 },
});
const { client, uid } = await server.registerOwner();
const base = `/h/${uid}`;
const stored = async () => (await client.call('getEndpoint', { params: { uid } })).stats.total;
afterAll(() => server.stop());

const head = (...lines: string[]): Buffer => rawRequest([`POST ${base}/slow HTTP/1.1`, 'Host: h', ...lines]);
const quick = () => exchange({ port: server.port }, head('Content-Length: 0'));

/** Sends byte by byte until the server closes. Returns its response. */
async function drip(connection: RawConnection, bytes: Buffer): Promise<string> {
  const closed = connection.closed();
  let over = false;
  void closed.finally(() => (over = true));
  for (const byte of bytes) {
    if (over) break;
    await connection.send(Buffer.of(byte)).catch(() => {});
    await sleep(50);
  }
  return (await closed).toString('latin1');
}

test.each([
  ['the head', () => Buffer.concat([head('X-Filler: '.padEnd(500, 'x'), 'Content-Length: 0')])],
  ['the body', () => Buffer.alloc(500, 'x')],
  ['chunks', () => Buffer.from('1\r\nx\r\n'.repeat(100))],
])('one byte at a time in %s: cut off with 408, nothing stored, others served meanwhile', async (part, bytes) => {
  const before = await stored();
  const connection = await openRaw({ port: server.port });
  if (part === 'the body') await connection.send(head('Content-Length: 500'));
  if (part === 'chunks') await connection.send(head('Transfer-Encoding: chunked'));
  const slow = drip(connection, bytes());
  expect((await quick()).status).toBe(200);
  expect(await slow).toMatch(/^$|^HTTP\/1\.1 408 /);
  expect(await stored()).toBe(before + 1);
});

test('a silent connection is cut off', async () => {
  const connection = await openRaw({ port: server.port });
  expect((await connection.closed()).toString('latin1')).toMatch(/^$|^HTTP\/1\.1 408 /);
});

test('100 slow ones at once do not delay others', async () => {
  const slow = await Promise.all(Array.from({ length: 100 }, () => openRaw({ port: server.port })));
  // On a busy machine some are cut off before they send.
  for (const [at, connection] of slow.entries())
    await connection.send(head('Content-Length: 10').subarray(0, 20 + at)).catch(() => undefined);
  for (let at = 0; at < 20; at += 1) expect((await quick()).status).toBe(200);
  await Promise.all(slow.map((connection) => connection.closed()));
});

test('a sender that does not read its responses gets all of them later', async () => {
  // With production timeouts: an unread connection is not slow.
  await using patient = await startTestServer({ settings: { MAX_UNSAVED_PER_ENDPOINT: '100000' } });
  const person = await patient.register();
  const endpoint = await person.client.call('createEndpoint', { body: {} });
  const one = rawRequest([`POST /h/${endpoint.uid} HTTP/1.1`, 'Host: h', 'Content-Length: 0']);
  const connection = await openRaw({ port: patient.port });
  connection.pause();
  const count = 3000;
  connection.send(Buffer.concat(Array.from({ length: count }, () => one))).catch(() => {});
  expect((await exchange({ port: patient.port }, one)).status).toBe(200);
  connection.resume();
  for (let at = 0; at < count; at += 1) {
    const answer = await connection.final();
    if (answer.status !== 200) throw new Error(`answer ${at}: ${answer.status} ${answer.body.toString('utf8')}`);
  }
  connection.close();
  expect((await person.client.call('getEndpoint', { params: { uid: endpoint.uid } })).stats.total).toBe(count + 1);
});
