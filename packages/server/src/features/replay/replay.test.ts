import type { HeaderPair } from '@creel/contract';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../../fixtures/raw-http.ts';
import { EMPTY_OK, openRawTarget, saying } from '../../../test/raw-target.ts';
import type { RawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestPerson } from '../../../test/test-server.ts';

let person: TestPerson;
let client: TestClient;
let target: RawTarget;

const server = await startTestServer({ settings: { MAX_BODY_BYTES: '3000000' } });
afterAll(() => server.stop());
beforeEach(async () => {
  target = await openRawTarget();
  person = await server.register();
  client = person.client;
});
afterEach(() => target.close());

const replay = (json: object, from: TestClient = client) => from.answerTo('/api/replay', { method: 'POST', json });

/** The only received request: its lines and its body. */
function sent(): { lines: string[]; body: Buffer } {
  const [bytes = Buffer.alloc(0), ...more] = target.received;
  expect(more).toEqual([]);
  const end = bytes.indexOf('\r\n\r\n');
  return { lines: bytes.subarray(0, end).toString('latin1').split('\r\n'), body: bytes.subarray(end + 4) };
}

/** Captures a request and returns its name. */
async function capture(body: Uint8Array<ArrayBuffer>, from: TestClient = client) {
  const { uid } = await from.call('createEndpoint', { body: {} });
  await from.send(`/h/${uid}`, { method: 'POST', body });
  const [captured] = await from.call('listUnsaved', { params: { uid } });
  if (captured === undefined) throw new Error('Nothing was captured.');
  return { uid, captured };
}

describe('the sent request', () => {
  test('equals the given one: target, case, order and repeats of headers; connection headers are our own', async () => {
    const headers = [
      { key: 'X-Second', value: '2' },
      { key: 'connection', value: 'keep-alive, X-Hop' },
      { key: 'x-hop', value: 'gone' },
      { key: 'x-FIRST', value: 'caf\u00e9' },
      { key: 'Content-Length', value: '999' },
      { key: 'Host', value: 'elsewhere.example' },
      { key: 'X-Second', value: 'again' },
      { key: 'Transfer-Encoding', value: 'chunked' },
      { key: 'Expect', value: '100-continue' },
      { key: 'User-Agent', value: 'Stripe/1.0' },
      { key: 'Empty', value: '' },
      { key: 'Content-Type', value: 'text/plain' },
    ];
    const url = `${target.url}/a/../b%2fc/?x=1&x=%zz#there`;
    expect(await replay({ method: 'PATCH', url, headers, body: 'gr\u00fc\u00df' })).toMatchObject({ status: 200 });
    expect(sent().lines).toEqual([
      'PATCH /a/../b%2fc/?x=1&x=%zz HTTP/1.1',
      `Host: 127.0.0.1:${target.port}`,
      'X-Second: 2',
      'x-FIRST: caf\u00e9',
      'X-Second: again',
      'User-Agent: Stripe/1.0',
      'Content-Type: text/plain',
      'Content-Length: 6',
      'Connection: close',
    ]);
    expect(sent().body.toString('utf8')).toBe('gr\u00fc\u00df');
  });

  test.each([
    ['GET', []],
    ['DELETE', []],
    ['HEAD', []],
    ['POST', ['Content-Length: 0']],
    ['PUT', ['Content-Length: 0']],
    ['OPTIONS', []],
    ['PROPFIND', ['Content-Length: 0']],
  ])('%s without a body has the length %j, and says who sends it', async (method, length) => {
    await replay({ method, url: target.url });
    expect(sent().lines).toEqual([
      `${method} / HTTP/1.1`,
      `Host: 127.0.0.1:${target.port}`,
      expect.stringMatching(/^User-Agent: Creel\/\S+ \(\+http:\/\/127\.0\.0\.1:\d+\)$/),
      ...length,
      'Connection: close',
    ]);
  });

  test('a GET has a body if one was given', async () => {
    await replay({ method: 'GET', url: target.url, headers: { a: 'b' }, body: 'with it' });
    expect(sent().body.toString()).toBe('with it');
  });

  test('bytes that are not text', async () => {
    const bytes = Buffer.from([0, 255, 128, 13, 10]);
    await replay({ method: 'POST', url: target.url, body: bytes.toString('base64'), bodyEncoding: 'base64' });
    expect(sent().body).toEqual(bytes);
  });

  test.each([
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['a body that is no whole text', Buffer.from([0xed, 0xa0, 0x80, 0xc3])],
    ['two megabytes', Buffer.alloc(2_000_000, 'creel ')],
    ['nothing', Buffer.alloc(0)],
  ])('a stored request byte for byte, in place of a body: %s', async (_what, bytes) => {
    const { uid, captured } = await capture(new Uint8Array(bytes));
    const order = { method: 'POST', url: target.url, body: 'in its place' };
    await replay({ ...order, bodyFrom: { endpointUid: uid, id: captured.id } });
    expect(sent().body.equals(bytes)).toBe(true);
    if (bytes.length === 0) return;
    const saved = await client.call('saveRequest', { params: { uid }, body: { index: captured.index } });
    await replay({ ...order, bodyFrom: { endpointUid: uid, id: saved.id } });
    expect(target.received[1]?.subarray(-bytes.length).equals(bytes)).toBe(true);
  });
});

describe('the response', () => {
  const answer = async (bytes: string | Uint8Array) => {
    target.answer = saying(bytes);
    return replay({ method: 'GET', url: target.url });
  };
  const pairs = (...headers: [string, string][]): HeaderPair[] => headers.map(([key, value]) => ({ key, value }));

  test("is the target's, with any status, and with its headers unchanged", async () => {
    const text = 'HTTP/1.1 418 Short and stout\r\nX-b: 1\r\nx-A: 2\r\nX-b: 3\r\nContent-Length: 2\r\n\r\nhi';
    expect(await answer(text)).toMatchObject({
      status: 200,
      body: {
        status: 418,
        statusText: 'Short and stout',
        headers: pairs(['X-b', '1'], ['x-A', '2'], ['X-b', '3'], ['Content-Length', '2']),
        body: 'hi',
        bodyEncoding: 'utf8',
        bodyTruncated: false,
        durationMs: expect.any(Number),
      },
    });
  });

  test.each([301, 302, 303, 307, 308])('a %i is shown and not followed', async (status) => {
    await using elsewhere = await openRawTarget();
    const { body } = await answer(`HTTP/1.1 ${status} Go\r\nLocation: ${elsewhere.url}/\r\nContent-Length: 0\r\n\r\n`);
    expect(body).toMatchObject({ status, body: null, headers: [{ key: 'Location', value: `${elsewhere.url}/` }, {}] });
    expect([target.count(), elsewhere.count()]).toEqual([1, 0]);
  });

  test('bytes that are not text come as base64, an encoded body unchanged', async () => {
    const bytes = Buffer.from([0x1f, 0x8b, 0, 255]);
    const head = Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n');
    expect((await answer(Buffer.concat([head, bytes]))).body).toMatchObject({
      body: bytes.toString('base64'),
      bodyEncoding: 'base64',
    });
  });

  test('a body over 1 MiB is truncated at a whole character and marked; one of 1 MiB is not', async () => {
    const mib = 1024 * 1024;
    const big = await answer(`HTTP/1.1 200 OK\r\n\r\nx${Buffer.from('é'.repeat(mib)).toString('latin1')}`);
    expect(big.body).toMatchObject({ body: `x${'é'.repeat(mib / 2 - 1)}`, bodyEncoding: 'utf8', bodyTruncated: true });
    const whole = await answer(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(mib)}`);
    expect(whole.body).toMatchObject({ body: 'a'.repeat(mib), bodyTruncated: false });
  });

  test('an aborted body is shown as far as it came, and marked', async () => {
    const { body } = await answer('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of');
    expect(body).toMatchObject({ status: 200, body: 'half of', bodyTruncated: true });
  });

  test('interim responses are skipped, in any number', async () => {
    const { body } = await answer(`${'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n'.repeat(1000)}${EMPTY_OK}`);
    expect(body).toMatchObject({ status: 200, body: null });
  });

  test('a target that starts its response before it has the body gets all of it', async () => {
    const echo = createServer((request, response) => {
      response.writeHead(200);
      response.flushHeaders();
      let size = 0;
      request.on('data', (piece: Buffer) => (size += piece.length));
      request.on('end', () => response.end(String(size)));
    });
    const port = await listenLocally(echo);
    const url = `http://127.0.0.1:${port}/`;
    expect(await replay({ method: 'POST', url, body: 'x'.repeat(2_900_000) })).toMatchObject({
      body: { status: 200, body: '2900000', bodyTruncated: false },
    });
    await new Promise((resolve) => echo.close(resolve));
  });

  test('endless interim responses are not a response', async () => {
    target.answer = (socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write('HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n'));
      };
      socket.on('drain', more);
      more();
    };
    expect(await replay({ method: 'GET', url: target.url })).toMatchObject({
      status: 502,
      body: { code: 'REPLAY_FAILED', error: expect.stringMatching(/too many interim responses/) },
    });
  });

  test('thousands of headers are all shown', async () => {
    const many = Array.from({ length: 3000 }, (_, nth) => `x-${nth}: 1`).join('\r\n');
    const { body } = await answer(`HTTP/1.1 200 OK\r\n${many}\r\nContent-Length: 0\r\n\r\n`);
    expect(body).toMatchObject({ headers: { length: 3001 } });
  });

  test.each([
    ['a hundred thousand headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(100_000)}\r\n`, /64 KiB of headers/],
    ['5,000 headers', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(5000)}\r\n`, /more than 4,000 headers/],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', /not HTTP/],
    ['HTTP/0.9', '<html>hello</html>', /not HTTP/],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', /not HTTP/],
    ['nothing', '', /without an answer/],
    ['half a head', 'HTTP/1.1 200 OK\r\nX: ', /without an answer/],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', /another protocol/],
  ])('a target that says %s has not answered', async (_what, bytes, sentence) => {
    expect(await answer(bytes)).toMatchObject({
      status: 502,
      body: { code: 'REPLAY_FAILED', error: expect.stringMatching(sentence) },
    });
  });
});

describe('a target without a response', () => {
  test('connection refused', async () => {
    const { url } = target;
    await target.close();
    expect(await replay({ method: 'GET', url })).toMatchObject({
      status: 502,
      body: { code: 'REPLAY_FAILED', error: expect.stringMatching(/refused the connection/) },
    });
    target = await openRawTarget();
  });

  test('hangs up', async () => {
    target.answer = (socket) => socket.resetAndDestroy();
    expect(await replay({ method: 'GET', url: target.url })).toMatchObject({
      status: 502,
      body: { error: expect.stringMatching(/closed the connection/) },
    });
  });

  test('no TLS', async () => {
    const plain = createServer((_request, response) => response.end());
    const port = await listenLocally(plain);
    expect(await replay({ method: 'GET', url: `https://127.0.0.1:${port}` })).toMatchObject({
      status: 502,
      body: { code: 'REPLAY_FAILED', error: expect.stringMatching(/TLS/) },
    });
    await new Promise((resolve) => plain.close(resolve));
  });

  test('in time', async () => {
    await using hasty = await startTestServer({ replay: { maxMs: 2000 } });
    const { client: their } = await hasty.register();
    expect(await replay({ method: 'GET', url: target.url }, their)).toMatchObject({ status: 200 });
    target.answer = () => undefined;
    expect(await replay({ method: 'GET', url: target.url }, their)).toMatchObject({
      status: 502,
      body: { code: 'REPLAY_FAILED', error: expect.stringMatching(/did not answer within/) },
    });
    target.answer = (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\nas far as it came');
    expect((await replay({ method: 'GET', url: target.url }, their)).body).toMatchObject({
      body: 'as far as it came',
      bodyTruncated: true,
    });
  });
});

test.each([
  ['resets its connection', (caller: RawConnection) => caller.reset()],
  ['closes its sending side, as a browser does that gives up', (caller: RawConnection) => caller.halfClose()],
])(
  'the replay of a client that %s is aborted',
  async (_how, leave) => {
    let left: (() => void) | undefined;
    const closed = new Promise<void>((resolve) => (left = resolve));
    const body = JSON.stringify({ method: 'GET', url: target.url });
    const caller = await openRaw({ port: server.port });
    target.answer = (socket) => {
      socket.once('close', () => left?.());
      leave(caller);
    };
    const head = [
      'POST /api/replay HTTP/1.1',
      'Host: creel',
      `Cookie: ${client.jar.header()}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    await caller.send(`${head.join('\r\n')}\r\n\r\n${body}`);
    await closed;
    expect(target.count()).toBe(1);
  },
  10_000,
);

describe('ownership', () => {
  test("another user's request is not found, before any other error", async () => {
    const stranger = await server.register();
    const { uid, captured } = await capture(new Uint8Array([1]), stranger.client);
    const answers = await Promise.all(
      [
        { endpointUid: uid, id: captured.id },
        { endpointUid: uid, id: 77 },
        { endpointUid: 'A'.repeat(22), id: captured.id },
      ].map((bodyFrom) => replay({ method: 'POST', url: 'http://169.254.169.254/', bodyFrom })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'REQUEST_NOT_FOUND' } });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test('a deleted request is not found', async () => {
    const { uid, captured } = await capture(new Uint8Array([1]));
    await client.call('deleteRequest', { params: { uid, id: captured.id } });
    const bodyFrom = { endpointUid: uid, id: captured.id };
    expect(await replay({ method: 'POST', url: target.url, bodyFrom })).toMatchObject({ status: 404 });
    expect(target.count()).toBe(0);
  });
});
