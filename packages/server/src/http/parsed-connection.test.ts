import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { listenLocally } from '../../../../fixtures/listen-locally.ts';
import { openRaw } from '../../../../fixtures/raw-http.ts';
import { inspectHead } from './listener.ts';
import { LoopTurns } from './loop-turns.ts';
import { ParsedConnection, parsedConnection } from './parsed-connection.ts';

const servers: Server[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) server.close();
});

/** A server whose connections Node's parser reads, and the memory of all reads. */
async function listen(handle: RequestListener) {
  const server = createServer((request, response) => {
    parsedConnection(request.socket)?.begin(request, response, inspectHead(request));
    handle(request, response);
  });
  servers.push(server);
  const parser = server.listeners('connection');
  const reads: ArrayBufferLike[] = [];
  const accepted: Socket[] = [];
  const connections: ParsedConnection[] = [];
  const turns = new LoopTurns();
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const attach = (): void => {
      for (const listener of parser) Reflect.apply(listener, server, [socket]);
    };
    accepted.push(socket);
    connections.push(new ParsedConnection(socket, turns, attach));
    socket.prependListener('data', (bytes: Buffer) => reads.push(bytes.buffer));
  });
  const port = await listenLocally(server);
  return { reads, accepted, turns, open: () => openRaw({ port }) };
}

const getOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\nPadding: ${'x'.repeat(2000)}\r\n\r\n`;

test('the memory of a read is freed when its requests were parsed', async () => {
  const { reads, open } = await listen((request, response) => response.end(request.url));
  const connection = await open();
  await connection.send(['/a', '/b', '/c'].map(getOf).join(''));
  const answers = [await connection.next(), await connection.next(), await connection.next()];
  expect(answers.map(({ body }) => body.toString())).toEqual(['/a', '/b', '/c']);
  expect(reads.length).toBeGreaterThan(0);
  await expect.poll(() => reads.map(({ byteLength }) => byteLength)).toEqual(reads.map(() => 0));
  connection.close();
});

test('the memory of unread requests is freed when the connection closes', async () => {
  const { reads, accepted, open } = await listen(() => undefined);
  const connection = await open();
  await connection.send(getOf('/a').repeat(20));
  await expect.poll(() => reads.length).toBeGreaterThan(0);
  expect(reads.map(({ byteLength }) => byteLength)).not.toContain(0);
  accepted[0]?.destroy();
  await expect.poll(() => reads.map(({ byteLength }) => byteLength)).toEqual(reads.map(() => 0));
});

test('a body that is read later is complete', async () => {
  const { open } = await listen((request, response) => {
    void nextTurn()
      .then(() => text(request))
      .then((body) => response.end(body));
  });
  const connection = await open();
  await connection.send(
    'POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: h\r\n\r\n',
  );
  expect((await connection.next()).body.toString()).toBe('hello');
  expect((await connection.next()).body.toString()).toBe('');
  connection.close();
});

test('after a read of a body that takes long, the next one waits for a turn', async () => {
  const { reads, turns, open } = await listen((request, response) =>
    request.resume().once('end', () => response.end('read')),
  );
  const connection = await open();
  const runRead = vi.spyOn(turns, 'runRead');
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.2));
  await connection.send('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
  await expect.poll(() => reads.length).toBe(1);
  expect(runRead).not.toHaveBeenCalled();
  await connection.send('1\r\nb\r\n0\r\n\r\n');
  expect((await connection.next()).body.toString()).toBe('read');
  expect(runRead).toHaveBeenCalledOnce();
  connection.close();
});

test('the next request does not wait for a turn, although the last one took long', async () => {
  const { turns, open } = await listen((request, response) => response.end(request.url));
  const connection = await open();
  const runRead = vi.spyOn(turns, 'runRead');
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.2));
  for (const path of ['/a', '/b']) {
    await connection.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
    expect((await connection.next()).body.toString()).toBe(path);
  }
  expect(runRead).not.toHaveBeenCalled();
  connection.close();
});

test('the rest of a rejected body that takes long to parse is read and not parsed', async () => {
  let received = '';
  const { reads, open } = await listen((request, response) => {
    response.shouldKeepAlive = false;
    response.write('rejected');
    request.on('data', (bytes: Buffer) => (received += bytes.toString()));
  });
  const connection = await open();
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  await connection.send('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
  await expect.poll(() => reads.length).toBe(1);
  await connection.send('1\r\nb\r\n');
  connection.halfClose();
  await connection.closed();
  expect(received).toBe('');
});
