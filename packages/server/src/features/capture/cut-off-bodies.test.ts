import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../../fixtures/raw-http.ts';
import { metricOf } from '../../../test/metric.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

/** A body that ends early releases its memory, however it ends. */
const KIB = 1024;
const MIB = 1024 * KIB;
const SENDERS = 20;
const HALF = Buffer.alloc(64 * KIB, 'x');
const GIVEN_BACK = { timeout: 2000 };

let server: TestServer;
let path: string;
beforeAll(async () => {
  server = await startTestServer({ timeouts: { headersMs: 400, requestMs: 600, checkMs: 100 } });
  const { client } = await server.register();
  path = `/h/${(await client.call('createEndpoint', { body: {} })).uid}`;
});
afterAll(() => server.stop());

const heldBytes = () => metricOf(server.origin, 'creel_body_bytes');
const post = (...lines: string[]): Buffer => rawRequest([`POST ${path} HTTP/1.1`, 'Host: h', ...lines]);
const halfOf = (length: number, ...lines: string[]): Buffer =>
  Buffer.concat([post(`Content-Length: ${length}`, ...lines), HALF]);
const halfInChunks = (...lines: string[]): Buffer =>
  Buffer.concat([post('Transfer-Encoding: chunked', ...lines), Buffer.from(`${(128 * KIB).toString(16)}\r\n`), HALF]);
const badChunk = (): Buffer =>
  Buffer.concat([
    post('Transfer-Encoding: chunked'),
    Buffer.from(`${HALF.length.toString(16)}\r\n`),
    HALF,
    Buffer.from('\r\nZZ\r\n'),
  ]);
const whole = (): Buffer => Buffer.concat([post('Content-Length: 2'), Buffer.from('{}')]);

type Goodbye = (connection: RawConnection) => void | Promise<void>;
const halfClose: Goodbye = (connection) => connection.halfClose();
const wait: Goodbye = () => undefined;
/** A reset discards what the server has not read yet. */
const reset: Goodbye = async (connection) => {
  await expect.poll(heldBytes, GIVEN_BACK).toBeGreaterThan(0);
  connection.reset();
};

async function sendCut(bytes: Buffer, goodbye: Goodbye): Promise<void> {
  const connection = await openRaw({ port: server.port });
  await connection.send(bytes);
  await goodbye(connection);
  await connection.closed();
  connection.close();
}

test.each<[string, () => Buffer, Goodbye]>([
  ['half a body, then FIN', () => halfOf(128 * KIB), halfClose],
  ['half a chunked body, then FIN', halfInChunks, halfClose],
  ['half a body, then RST', () => halfOf(128 * KIB), reset],
  ['a bad chunk size after a good chunk', badChunk, wait],
  ['a whole request, then half a body and FIN', () => Buffer.concat([whole(), halfOf(128 * KIB)]), halfClose],
  ['a whole request, then a bad chunk size', () => Buffer.concat([whole(), badChunk()]), wait],
  [
    'half a body of a declined upgrade, then FIN',
    () => halfOf(128 * KIB, 'Connection: Upgrade', 'Upgrade: h2c'),
    halfClose,
  ],
  ['half a body after 100 Continue, then FIN', () => halfOf(128 * KIB, 'Expect: 100-continue'), halfClose],
  ['half a body until the time-out', () => halfOf(128 * KIB), wait],
  ['half a chunked body until the time-out', halfInChunks, wait],
])('%s: no byte stays counted', async (_kind, bytes, goodbye) => {
  await Promise.all(Array.from({ length: SENDERS }, () => sendCut(bytes(), goodbye)));
  await expect.poll(heldBytes, GIVEN_BACK).toBe(0);
});

test('a body that is being read is counted, and no longer after it is stored', async () => {
  const connection = await openRaw({ port: server.port });
  await connection.send(halfOf(128 * KIB));
  await expect.poll(heldBytes, GIVEN_BACK).toBe(HALF.length);
  await connection.send(HALF);
  expect((await connection.final()).status).toBe(200);
  expect(await heldBytes()).toBe(0);
  connection.close();
});

describe('with production timeouts', () => {
  let patient: TestServer;
  let patientPath: string;
  beforeAll(async () => {
    patient = await startTestServer();
    const { client } = await patient.register();
    patientPath = `/h/${(await client.call('createEndpoint', { body: {} })).uid}`;
  });
  afterAll(() => patient.stop());

  const sendLarge = (): Promise<number> =>
    exchange(
      { port: patient.port },
      rawRequest(
        [`POST ${patientPath} HTTP/1.1`, 'Host: h', `Content-Length: ${25 * MIB}`],
        Buffer.alloc(25 * MIB, 'x'),
      ),
    ).then(({ status }) => status);

  test('aborted bodies that filled the memory do not block large ones', async () => {
    const half = Buffer.alloc(24 * MIB, 'x');
    const head = rawRequest([`POST ${patientPath} HTTP/1.1`, 'Host: h', `Content-Length: ${25 * MIB}`]);
    for (let round = 0; round < 10; round += 1) {
      const connection = await openRaw({ port: patient.port });
      await connection.send(head);
      await connection.send(half);
      connection.halfClose();
      await connection.closed();
      connection.close();
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
    const half = Buffer.concat([head, Buffer.alloc(MIB - 1, ' ')]);
    for (let round = 0; round < 7; round += 1) {
      const connections = await Promise.all(Array.from({ length: 10 }, () => openRaw({ port: patient.port })));
      await Promise.all(
        connections.map(async (connection) => {
          await connection.send(half);
          connection.halfClose();
          await connection.closed();
          connection.close();
        }),
      );
    }
    const wrong = { username: 'nobody', password: 'x'.repeat(100_000) };
    const answer = await patient.visitor().tell('/api/login', { method: 'POST', json: wrong });
    expect(answer.status).not.toBe(503);
  });

  test('a body in chunks of one byte takes no more memory than its bytes allow', async () => {
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
    const connection = await openRaw({ port: patient.port });
    await connection.send(rawRequest([`POST ${patientPath} HTTP/1.1`, 'Host: h', 'Transfer-Encoding: chunked']));
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 100; round += 1) await connection.send(chunks);
    await expect
      .poll(() => metricOf(patient.origin, 'creel_body_bytes'), { timeout: 10_000 })
      .toBeGreaterThanOrEqual(1_000_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * MIB);
    await connection.send('0\r\n\r\n');
    expect((await connection.final()).status).toBe(200);
    connection.close();
  });
});
