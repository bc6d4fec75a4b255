import { MAX_DELIVERY_RESPONSE_BYTES } from '@creel/contract';
import { createServer as createTcpServer } from 'node:net';
import { expect, test } from 'vitest';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { sampleRequest } from '../../../fixtures/sample-request.ts';
import { UsageError } from './cli-error.ts';
import { destinationPath, parseDestination, sendCapture } from './send-capture.ts';

test.each([
  ['with a coded length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ['that the end of the connection ends', 'HTTP/1.0 200 OK\r\n\r\n', 'x'],
])('a response that never ends is cut off after the time limit: one %s', async (_name, head, more) => {
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.write(head);
        const timer = setInterval(() => socket.write(more), 10);
        socket.on('close', () => clearInterval(timer));
      });
  });
  const url = new URL(`http://127.0.0.1:${await listenLocally(server)}/`);
  const result = await sendCapture(sampleRequest(1), {
    destination: url,
    body: Buffer.from('x'),
    signal: new AbortController().signal,
    maxResponseMs: 2000,
  });
  expect(result).toMatchObject({ kind: 'answered', status: 200, isCut: true });
  await new Promise((resolve) => server.close(resolve));
});

/** Sends one capture to a program that answers each request with these bytes and closes the connection. */
async function resultOfAnswer(answer: string) {
  const server = createTcpServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(answer)));
  const destination = new URL(`http://127.0.0.1:${await listenLocally(server)}/`);
  const { signal } = new AbortController();
  const result = await sendCapture(sampleRequest(1), { destination, body: Buffer.from('x'), signal });
  await new Promise((resolve) => server.close(resolve));
  return result;
}

const headers = (bytes: number): string => `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(bytes)}\r\nContent-Length: 4\r\n\r\n`;

test.each([
  ['a complete response', `${headers(1)}good`, { status: 200, isCut: false }],
  [
    'a response of 20 KB, of which slightly more is kept than the server stores',
    `HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(20_000)}`,
    { beginning: new Uint8Array(MAX_DELIVERY_RESPONSE_BYTES + 8).fill(97) },
  ],
  ['a response that breaks off', `${headers(1)}go`, { status: 200, isCut: true }],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\n\r\ngood', { reason: 'it answered with something that is not HTTP' }],
  ['60 KB of headers', `${headers(60_000)}good`, { status: 200, isCut: false }],
  ['70 KB of headers', headers(70_000), { reason: 'it answered with more than 64 KiB of headers' }],
])('%s', async (_name, answer, result) => {
  expect(await resultOfAnswer(answer)).toMatchObject(result);
});

test.each([
  ['that does not speak it', 'HTTP/1.1 400 No\r\n\r\n', 'its port does not speak https'],
  // A fatal alert (RFC 8446, section 6).
  [
    'that rejects it',
    Buffer.from([0x15, 3, 3, 0, 2, 2, 40]),
    'it rejected the TLS connection: ssl/tls alert handshake failure',
  ],
])('https to a port %s fails with a sentence', async (_what, answer, reason) => {
  const server = createTcpServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(answer)));
  const destination = new URL(`https://127.0.0.1:${await listenLocally(server)}/`);
  const { signal } = new AbortController();
  const result = await sendCapture(sampleRequest(1), { destination, body: Buffer.from('x'), signal });
  expect(result).toMatchObject({ kind: 'unreached', reason });
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  ['http://localhost:4000', '', '/'],
  ['http://localhost:4000/', '/', '/'],
  ['http://localhost:4000', '/a/../b%2f?x=%zz', '/a/../b%2f?x=%zz'],
  ['http://localhost:4000/hooks', '', '/hooks'],
  ['http://localhost:4000/hooks', '?a=b', '/hooks?a=b'],
  ['http://localhost:4000/hooks', '/a?b', '/hooks/a?b'],
  ['http://localhost:4000/hooks/', '/a', '/hooks/a'],
  ['http://localhost:4000/hooks/', '', '/hooks/'],
  ['http://localhost:4000/hooks?token=1', '', '/hooks?token=1'],
  ['http://localhost:4000/hooks?token=1', '/a', '/hooks/a?token=1'],
  ['http://localhost:4000/hooks?token=1', '/a?x=2?y', '/hooks/a?token=1&x=2?y'],
  ['http://localhost:4000/hooks?token=1', '?', '/hooks?token=1'],
  ['http://localhost:4000/hooks', '/a#b?x=#y', '/hooks/a#b?x=#y'],
])('destination %s and target %j make %s', (destination, rawTarget, path) => {
  expect(destinationPath(parseDestination(destination), rawTarget)).toBe(path);
});

test.each(['', 'localhost:4000', 'ftp://localhost', 'http://', 'http://user:secret@localhost/'])(
  '%j is not a destination',
  (text) => {
    expect(() => parseDestination(text)).toThrow(UsageError);
  },
);

test.each(['http://user:secret@localhost/', 'http://:secret@localhost/'])(
  'the password in %s is not printed',
  (text) => {
    expect(() => parseDestination(text)).toThrow(/^The URL has a name or a password\. (?!.*secret)/);
  },
);
