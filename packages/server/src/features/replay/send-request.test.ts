import { createServer as createTcpServer } from 'node:net';
import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import { expect, test, vi } from 'vitest';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { openRejectingTarget } from '../../../../../fixtures/rejecting-target.ts';
import { openRawTarget } from '../../../test/raw-target.ts';
import { selfSigned } from '../../../test/self-signed.ts';
import { failureOf } from './replay-failure.ts';
import { sendRequest } from './send-request.ts';
import type { OutboundResponse } from './send-request.ts';
import { lookUpOnSystem } from './target.ts';

/** Sends a request to a target on this machine. */
function send(
  url: string,
  body = Buffer.alloc(0),
  userId = 1,
  { signal } = new AbortController(),
): Promise<OutboundResponse> {
  const request = {
    userId,
    method: 'POST',
    url,
    headers: [],
    body,
    userAgent: 'Creel/test',
    allowPrivate: true,
    maxMs: 30_000,
  };
  return sendRequest(request, signal, lookUpOnSystem);
}

/** A target with this TLS certificate, and the result of a replay to it. */
async function replayOver(certificate: { cert: string; key: string }): Promise<{ message: string; heard: string }> {
  let heard = '';
  const server = createServer(certificate, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      heard += piece.toString('latin1');
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  server.on('tlsClientError', () => undefined);
  const port = await listenLocally(server);
  const message = await send(`https://127.0.0.1:${port}/secret`).then(
    ({ status }) => String(status),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await new Promise((resolve) => server.close(resolve));
  return { message, heard };
}

test.each([
  ['its own, with the right address', selfSigned('127.0.0.1'), /self-signed/],
  ['its own, for another address', selfSigned('192.0.2.1'), /self-signed|another name/],
])('a certificate that is %s is not taken, and nothing is sent', async (_what, certificate, sentence) => {
  const { message, heard } = await replayOver(certificate);
  expect(message).toMatch(sentence);
  expect(heard).toBe('');
});

test.each([
  ['wants a client certificate or another version', [0x15, 3, 3, 0, 2, 2, 40], /rejected the TLS connection/],
  ['does not speak TLS', [...Buffer.from('HTTP/1.1 400 No\r\n\r\n')], /does not answer with TLS/],
])('a target that %s is told from others', async (_what, bytes, sentence) => {
  const server = createTcpServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.from(bytes))),
  );
  await expect(send(`https://127.0.0.1:${await listenLocally(server)}/`)).rejects.toThrow(sentence);
  await new Promise((resolve) => server.close(resolve));
});

test('a certificate with a weak key is named as the reason', () => {
  // The error of Node 26 for an RSA key of 1,024 bits.
  const error = Object.assign(new Error('EE certificate key too weak'), { code: 'UNSPECIFIED' });
  expect(failureOf(error).message).toMatch(/certificate is not secure enough/);
});

test('certificates are also checked where the environment turns this off for Node', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { message, heard } = await replayOver(selfSigned('127.0.0.1')).finally(() => vi.unstubAllEnvs());
  expect(message).toMatch(/self-signed/);
  expect(heard).toBe('');
});

test.each(['at once', 'late'] as const)(
  'a target that rejects a large body before it has read it is heard: %s',
  async (when) => {
    await using target = await openRejectingTarget(when);
    const body = Buffer.alloc(25 * 1024 * 1024);
    const responses: OutboundResponse[] = [];
    // Of late responses, some come in the moment of a write.
    for (let nth = 0; nth < 25; nth += 1)
      responses.push(...(await Promise.all([1, 2, 3, 4].map(() => send(target.url, body)))));
    const rejected = expect.objectContaining({ status: 413, body: Buffer.from('big'), isCut: false });
    expect(responses).toEqual(responses.map(() => rejected));
  },
);

test.each([
  ['ends', (socket: Socket) => void socket.end(), false],
  ['resets', (socket: Socket) => void socket.resetAndDestroy(), true],
])('a body without a length, after which the target %s the connection', async (_what, close, isCut) => {
  const server = createTcpServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nbody', () => close(socket))),
  );
  const response = await send(`http://127.0.0.1:${await listenLocally(server)}/`);
  expect(response).toMatchObject({ status: 200, body: Buffer.from('body'), isCut });
  await new Promise((resolve) => server.close(resolve));
});

test('a response in pieces of one byte does not delay the response to another user', async () => {
  const waiting: Socket[] = [];
  const server = createTcpServer((socket) => void waiting.push(socket.on('error', () => {}).resume()));
  const url = `http://127.0.0.1:${await listenLocally(server)}/`;
  const ended: string[] = [];
  const inPieces = send(url, undefined, 1).then(() => ended.push('in pieces'));
  await expect.poll(() => waiting).toHaveLength(1);
  const small = send(url, undefined, 2).then(() => ended.push('small'));
  await expect.poll(() => waiting).toHaveLength(2);
  const pieces = '1\r\na\r\n'.repeat(20_000);
  waiting[0]?.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`);
  waiting[1]?.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await Promise.all([inPieces, small]);
  expect(ended).toEqual(['small', 'in pieces']);
  await new Promise((resolve) => server.close(resolve));
});

test('a replay that its user cancels does not blame the destination', async () => {
  await using target = await openRawTarget();
  const caller = new AbortController();
  target.answer = () => caller.abort();
  await expect(send(target.url, undefined, undefined, caller)).rejects.toThrow(
    'The replay was canceled before the destination answered.',
  );
});
