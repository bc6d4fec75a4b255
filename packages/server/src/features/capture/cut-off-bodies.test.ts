import { afterAll, expect, onTestFinished, test } from 'vitest';
import { exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../../fixtures/raw-http.ts';
import { heapInUse } from '../../../test/heap-in-use.ts';
import { metricOf } from '../../../test/metric.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer, TestServerOptions } from '../../../test/test-server.ts';

/** A body that ends early releases its memory, however it ends. */
const KIB = 1024;
const MIB = 1024 * KIB;
const SENDERS = 20;
const HALF = Buffer.alloc(64 * KIB, 'x');

interface Place {
  readonly server: TestServer;
  readonly path: string;
}

async function startPlace(timeouts?: TestServerOptions['timeouts']): Promise<Place> {
  const server = await startTestServer({ timeouts });
  const { uid } = await server.registerOwner();
  return { server, path: `/h/${uid}` };
}

/** With production timeouts, so that no test waits until they release the memory. */
const place = await startPlace();
/** With timeouts that end half a body at once. */
const hasty = await startPlace({ headersMs: 400, requestMs: 600, checkMs: 100 });
afterAll(() => Promise.all([place.server.stop(), hasty.server.stop()]));

const heldBytes = ({ server }: Place) => metricOf(server.origin, 'creel_body_bytes');
const post = ({ path }: Place, ...lines: string[]): Buffer =>
  rawRequest([`POST ${path} HTTP/1.1`, 'Host: h', ...lines]);
const half = (to: Place, ...lines: string[]): Buffer =>
  Buffer.concat([post(to, `Content-Length: ${2 * HALF.length}`, ...lines), HALF]);
const halfInChunks = (to: Place): Buffer =>
  Buffer.concat([post(to, 'Transfer-Encoding: chunked'), Buffer.from(`${(2 * HALF.length).toString(16)}\r\n`), HALF]);
const badChunk = (to: Place): Buffer =>
  Buffer.concat([
    post(to, 'Transfer-Encoding: chunked'),
    Buffer.from(`${HALF.length.toString(16)}\r\n`),
    HALF,
    Buffer.from('\r\nZZ\r\n'),
  ]);
const whole = (to: Place): Buffer => Buffer.concat([post(to, 'Content-Length: 2'), Buffer.from('{}')]);

type Goodbye = (connection: RawConnection, to: Place) => void | Promise<void>;
const halfClose: Goodbye = (connection) => connection.halfClose();
const wait: Goodbye = () => undefined;
/** A reset discards what the server has not read yet. */
const reset: Goodbye = async (connection, to) => {
  await expect.poll(() => heldBytes(to)).toBeGreaterThan(0);
  connection.reset();
};

async function sendCut(to: Place, bytes: Buffer, goodbye: Goodbye): Promise<void> {
  using connection = await openRaw({ port: to.server.port });
  // On a busy machine the server may time out before it has all of them.
  await connection.send(bytes).catch(() => undefined);
  await goodbye(connection, to);
  await connection.closed();
}

async function expectReleased(to: Place, bytes: Buffer, goodbye: Goodbye): Promise<void> {
  await Promise.all(Array.from({ length: SENDERS }, () => sendCut(to, bytes, goodbye)));
  await expect.poll(() => heldBytes(to)).toBe(0);
}

test.each<[string, (to: Place) => Buffer, Goodbye]>([
  ['half a body, then FIN', half, halfClose],
  ['half a chunked body, then FIN', halfInChunks, halfClose],
  ['half a body, then RST', half, reset],
  ['a bad chunk size after a good chunk', badChunk, wait],
  ['a whole request, then half a body and FIN', (to) => Buffer.concat([whole(to), half(to)]), halfClose],
  ['a whole request, then a bad chunk size', (to) => Buffer.concat([whole(to), badChunk(to)]), wait],
  ['half a body of a declined upgrade, then FIN', (to) => half(to, 'Connection: Upgrade', 'Upgrade: h2c'), halfClose],
  ['half a body after 100 Continue, then FIN', (to) => half(to, 'Expect: 100-continue'), halfClose],
])('%s: no byte stays counted', (_kind, bytes, goodbye) => expectReleased(place, bytes(place), goodbye));

test.each([
  ['half a body', half],
  ['half a chunked body', halfInChunks],
])('%s until the time-out: no byte stays counted', (_kind, bytes) => expectReleased(hasty, bytes(hasty), wait));

test('a body that is being read is counted, and no longer after it is stored', async () => {
  using connection = await openRaw({ port: place.server.port });
  await connection.send(half(place));
  await expect.poll(() => heldBytes(place)).toBe(HALF.length);
  await connection.send(HALF);
  expect((await connection.final()).status).toBe(200);
  expect(await heldBytes(place)).toBe(0);
});

const sendLarge = (): Promise<number> =>
  exchange(
    { port: place.server.port },
    rawRequest([`POST ${place.path} HTTP/1.1`, 'Host: h', `Content-Length: ${25 * MIB}`], Buffer.alloc(25 * MIB, 'x')),
  ).then(({ status }) => status);

test('aborted bodies that filled the memory do not block large ones', async () => {
  const most = Buffer.alloc(24 * MIB, 'x');
  const head = rawRequest([`POST ${place.path} HTTP/1.1`, 'Host: h', `Content-Length: ${25 * MIB}`]);
  for (let round = 0; round < 10; round += 1) {
    using connection = await openRaw({ port: place.server.port });
    await connection.send(head);
    await connection.send(most);
    connection.halfClose();
    await connection.closed();
  }
  expect(await sendLarge()).toBe(200);
});

test('aborted bodies of calls leave room for other calls', async () => {
  const head = rawRequest([
    'POST /api/login HTTP/1.1',
    'Host: h',
    'Content-Type: application/json',
    `Content-Length: ${MIB}`,
  ]);
  const most = Buffer.concat([head, Buffer.alloc(MIB - 1, ' ')]);
  for (let round = 0; round < 7; round += 1) {
    const connections = await Promise.all(Array.from({ length: 10 }, () => openRaw({ port: place.server.port })));
    await Promise.all(
      connections.map(async (connection) => {
        await connection.send(most);
        connection.halfClose();
        await connection.closed();
        connection.close();
      }),
    );
  }
  const wrong = { username: 'nobody', password: 'x'.repeat(100_000) };
  const answer = await place.server.visitor().answerTo('/api/login', { method: 'POST', json: wrong });
  expect(answer.status).toBe(401);
});

test('a body in chunks of one byte takes no more memory than its bytes allow', async () => {
  // A busy machine needs a minute for the chunks.
  const unhurried = await startPlace({ headersMs: 600_000, requestMs: 600_000, checkMs: 5000 });
  onTestFinished(() => unhurried.server.stop());
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  using connection = await openRaw({ port: unhurried.server.port });
  await connection.send(rawRequest([`POST ${unhurried.path} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked']));
  const before = heapInUse();
  for (let round = 0; round < 100; round += 1) await connection.send(chunks);
  await expect.poll(() => heldBytes(unhurried)).toBeGreaterThanOrEqual(1_000_000);
  expect(heapInUse() - before).toBeLessThan(60 * MIB);
  await connection.send('0\r\n\r\n');
  expect((await connection.final()).status).toBe(200);
});
