import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openRaw, rawRequest } from '../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../fixtures/raw-http.ts';
import { startTestServer } from '../../test/test-server.ts';

const MIB = 1024 * 1024;

const server = await startTestServer();
afterAll(() => server.stop());

async function begin(lines: readonly string[], body: string | Uint8Array): Promise<RawConnection> {
  const connection = await openRaw({ port: server.port });
  await connection.send(rawRequest(lines, body));
  return connection;
}

const login = (length: number): string[] => [
  'POST /api/login HTTP/1.1',
  'Host: h',
  'Content-Type: application/json',
  `Content-Length: ${length}`,
];

test('endless bodies of calls hold at most 64 MiB in total; captures continue, and memory is freed', async () => {
  const { client, uid } = await server.registerOwner();
  // They fit exactly, so that none is rejected and frees its memory.
  const half = await Promise.all(Array.from({ length: 65 }, () => begin(login(MIB), Buffer.alloc(MIB - 10, ' '))));
  const wrong = { username: 'nobody', password: 'x'.repeat(100_000) };
  const tryLogin = () => server.visitor().answerTo('/api/login', { method: 'POST', json: wrong });
  await expect.poll(async () => (await tryLogin()).status).toBe(503);
  const refused = await tryLogin();
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.body).toMatchObject({ code: 'UNAVAILABLE' });
  expect((await client.send(`/h/${uid}`, { method: 'POST', body: 'x' })).status).toBe(200);
  expect((await client.answerTo('/api/user')).status).toBe(200);
  const ordinary = { username: 'nobody', password: 'a password' };
  expect((await server.visitor().answerTo('/api/login', { method: 'POST', json: ordinary })).status).toBe(401);
  for (const connection of half) connection.reset();
  await expect.poll(async () => (await tryLogin()).status).toBe(401);
});

test('a body over the limit is rejected, with and without a declared length', async () => {
  const statusOf = async (head: readonly string[], body: string | Uint8Array) => {
    const connection = await begin(head, body);
    const { status } = await connection.final();
    connection.close();
    return status;
  };
  expect(await statusOf(login(MIB + 1), '')).toBe(413);
  const chunk = `${(MIB + 1).toString(16)}\r\n${' '.repeat(MIB + 1)}\r\n`;
  const head = ['POST /api/login HTTP/1.1', 'Host: h', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
  expect(await statusOf(head, chunk)).toBe(413);
  expect(await statusOf(login(MIB), Buffer.alloc(MIB, ' '))).toBe(400);
});

test.each([`Content-Length: ${24 * MIB}`, 'Transfer-Encoding: chunked'])(
  'a client that sends the whole of a body over the limit sees the response (%s)',
  async (framing) => {
    const body = Buffer.alloc(24 * MIB, ' ');
    const isChunked = framing.startsWith('Transfer');
    const sent = isChunked ? [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'] : [body];
    const head = ['POST /api/login HTTP/1.1', 'Host: h', 'Content-Type: application/json', framing];
    const connection = await begin(head, '');
    for (const part of sent) await connection.send(part);
    expect((await connection.final()).status).toBe(413);
    await connection.closed();
  },
);

test.each([
  ['GET /api/user', 401],
  ['PUT /api/user', 405],
  ['GET /api/nowhere', 404],
  ['POST /healthz', 405],
  ['POST http://h/h/unknown', 404],
])('a client that asks to close sends its whole body, although %s is rejected before', async (line, rejection) => {
  const head = [`${line} HTTP/1.1`, 'Host: h', 'Connection: close', `Content-Length: ${4 * MIB}`];
  const connection = await begin(head, '');
  const { status, body } = await connection.final();
  expect(status).toBe(rejection);
  expect(body.toString()).toContain('"code"');
  for (let nth = 0; nth < 4; nth += 1) await connection.send(Buffer.alloc(MIB, ' '));
  expect((await connection.closed()).length).toBe(0);
});

test.each(['call', 'capture'])('a slow client that sends on after the response is not cut off: a %s', async (kind) => {
  const { uid } = await server.registerOwner();
  const [, ...lines] = login(30 * MIB);
  const connection = await begin([`POST ${kind === 'call' ? '/api/login' : `/h/${uid}`} HTTP/1.1`, ...lines], '');
  // Longer than the silence after which the server closes.
  for (let nth = 0; nth < 6; nth += 1) {
    await connection.send(Buffer.alloc(1024, ' '));
    await sleep(500);
  }
  await connection.send(Buffer.alloc(1024, ' '));
  expect((await connection.final()).status).toBe(413);
  connection.close();
});

test('a billing call is answered before its body arrives when billing is off, for allowed callers', async () => {
  await using off = await startTestServer({ settings: { BILLING: 'off' } });
  const { client } = await off.register();
  const checkout = async (cookie: string) => {
    const connection = await openRaw({ port: off.port });
    const lines = [
      'POST /api/subscription/checkout HTTP/1.1',
      'Host: h',
      'Content-Type: application/json',
      `Content-Length: ${MIB}`,
      `Cookie: ${cookie}`,
    ];
    await connection.send(rawRequest(lines, '{'));
    return connection;
  };
  const loggedIn = await checkout(client.jar.header());
  expect((await loggedIn.final()).status).toBe(501);
  const stranger = await checkout('a=b');
  expect((await stranger.final()).status).toBe(401);
  loggedIn.close();
  stranger.close();
});

test('a body in chunks of one byte is rejected before it is parsed to its end, and the client sees the response', async () => {
  const head = ['POST /api/login HTTP/1.1', 'Host: h', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
  const allowed = await begin(head, `${'1\r\n \r\n'.repeat(60_000)}2\r\n{}\r\n0\r\n\r\n`);
  expect((await allowed.final()).status).toBe(400);
  allowed.close();
  const connection = await begin(head, '1\r\n \r\n'.repeat(300_000));
  const { status, body } = await connection.final();
  expect(status).toBe(413);
  expect(JSON.parse(body.toString())).toMatchObject({ error: 'Please send the body in larger chunks.' });
  connection.close();
});
