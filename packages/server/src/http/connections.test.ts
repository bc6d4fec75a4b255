import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import { afterEach, expect, test, vi } from 'vitest';
import { freePort } from '../../../../fixtures/free-port.ts';
import { openRaw } from '../../../../fixtures/raw-http.ts';
import { Connections } from './connections.ts';
import { createListener, LISTENER_TIMEOUTS, portOf, serveRequests } from './listener.ts';
import type { RequestHandler } from './listener.ts';
import { LoopTurns } from './loop-turns.ts';

const all: Connections[] = [];
const MAX_UNREAD_BYTES = 1024 * 1024;
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(all.splice(0).map((each) => each.close(0)));
});

/** By default it answers everything with 200. */
function create(
  listener = createServer(),
  handle: RequestHandler = (_request, response) => void response.end('ok'),
  keepAliveMs = 60_000,
) {
  const stopping = new AbortController().signal;
  const connections = new Connections(listener, {
    admit: () => ({ code: 'NOT_FOUND' }),
    turns: new LoopTurns(),
    silenceMs: 60_000,
    keepAliveMs,
    bodyMs: 60_000,
    maxConnections: 1000,
    maxUnreadBytes: MAX_UNREAD_BYTES,
    stopping,
  });
  all.push(connections);
  serveRequests(listener, handle, stopping);
  return { listener, connections };
}

test('a port that another server shares is in use', async () => {
  const port = await freePort();
  const first = create();
  await first.connections.listen({ port, host: '127.0.0.1' });
  await expect(create().connections.listen({ port, host: '127.0.0.1' })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.connections.close(0);
  await create().connections.listen({ port, host: '127.0.0.1' });
});

test('of two servers that start at the same moment, one gets the port', async () => {
  const port = await freePort();
  // A server listens within a few ticks, so the second one starts between two of them.
  for (let ticksBetween = 0; ticksBetween < 10; ticksBetween += 1) {
    const [first, second] = [create().connections, create().connections];
    const start = (connections: Connections) => connections.listen({ port, host: '127.0.0.1' });
    const later = async (): Promise<void> => {
      for (let tick = 0; tick < ticksBetween; tick += 1) await new Promise<void>((resolve) => nextTick(resolve));
      await start(second);
    };
    const outcomes = await Promise.allSettled([start(first), later()]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await Promise.all([first.close(0), second.close(0)]);
  }
});

test('connections of all listening sockets are served, and closing ends them', async () => {
  const { listener, connections } = create();
  await connections.listen({ port: 0, host: '127.0.0.1' });
  const port = portOf(listener);
  // One listening socket of 16 gets none of them with a probability of 1 in 60.
  const sockets = Array.from({ length: 64 }, () => connect({ port, host: '127.0.0.1' }));
  const answers = sockets.map(
    (socket) =>
      new Promise<string>((resolve) => {
        socket.once('data', (bytes) => resolve(String(bytes)));
        socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
      }),
  );
  for (const answer of await Promise.all(answers)) expect(answer).toContain('200 OK');
  const ended = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  await connections.close(60_000);
  await Promise.all(ended);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');
});

test('the address that sends the most ahead loses connections when all of them hold too many unread bytes', async () => {
  const { listener, connections } = create(undefined, () => undefined);
  await connections.listen({ port: 0, host: '127.0.0.1' });
  const open: Socket[] = [];
  const send = (localAddress: string, bytes: string): Socket => {
    const socket = connect({ port: portOf(listener), host: '127.0.0.1', localAddress }, () => socket.write(bytes));
    // The server resets a connection with unread bytes.
    socket.on('error', () => undefined).on('close', () => open.splice(open.indexOf(socket), 1));
    open.push(socket);
    return socket;
  };
  const request = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';
  const ahead = request.repeat(10_000);
  const quiet = [send('127.0.0.1', request), send('127.0.0.2', ahead)];
  for (let nth = 0; nth < 40; nth += 1) send('127.0.0.1', ahead);
  // Each holds at least one read of 64 KiB.
  await expect.poll(() => open.length).toBeLessThanOrEqual(quiet.length + MAX_UNREAD_BYTES / (64 * 1024));
  expect(open).toEqual(expect.arrayContaining(quiet));
});

test.each(['/h/a', '/'])(
  'the memory of unread bytes of a body for %s is freed when the connection closes',
  async (path) => {
    // The connection pauses after a full read, and Node reads once more.
    vi.spyOn(LoopTurns.prototype, 'runRead').mockImplementation(() => undefined);
    const { listener, connections } = create(undefined, (request) => void request.resume());
    await connections.listen({ port: 0, host: '127.0.0.1' });
    const accepted = new Promise<Socket>((resolve) => void listener.once('connection', resolve));
    const connection = await openRaw({ port: portOf(listener) });
    const socket = await accepted;
    const reads = vi.spyOn(socket, 'push');
    const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n`;
    await connection.send(head + 'x'.repeat(300_000));
    await expect.poll(() => socket.isPaused() && socket.readableLength > 0).toBe(true);
    const unread = (): number | undefined => (reads.mock.lastCall?.[0] as Buffer | undefined)?.buffer.byteLength;
    expect(unread()).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(unread).toBe(0);
  },
);

test('a connection with responses that its sender does not read is closed in time', async () => {
  const { listener, connections } = create(undefined, undefined, 100);
  await connections.listen({ port: 0, host: '127.0.0.1' });
  const accepted = new Promise<Socket>((resolve) => void listener.once('connection', resolve));
  using connection = await openRaw({ port: portOf(listener) });
  const socket = await accepted;
  connection.pause();
  await connection.send('GET /h/a HTTP/1.1\r\nHost: h\r\n\r\n');
  await expect.poll(() => socket.bytesWritten).toBeGreaterThan(0);
  // More than the buffers of both kernels take.
  socket.write(Buffer.alloc(32 * 1024 * 1024));
  await expect.poll(() => socket.destroyed).toBe(true);
});

test('a response without a length that is cut off at the stop is not taken for a whole one', async () => {
  const { listener, connections } = create(undefined, (_request, response) => void response.write('the first half'));
  await connections.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect({ port: portOf(listener), host: '127.0.0.1' });
  const end = new Promise((resolve) => void socket.once('error', resolve).once('end', () => resolve('no error')));
  socket.write('GET / HTTP/1.0\r\n\r\n');
  await once(socket, 'data');
  await connections.close(0);
  expect(await end).toMatchObject({ code: 'ECONNRESET' });
});

test('a request that waits for its response gets it although what follows is not HTTP', async () => {
  const listener = createListener(() => false, LISTENER_TIMEOUTS);
  const isBroken = new Promise((resolve) => listener.once('clientError', resolve));
  const { connections } = create(listener, (_request, response) => void isBroken.then(() => response.end('late')));
  await connections.listen({ port: 0, host: '127.0.0.1' });
  const connection = await openRaw({ port: portOf(listener) });
  // Node's parser takes a head of HTTP/0.9 as complete here, so it reads what follows in the same slice.
  await connection.send('POST /a\n\r\nrubbish');
  const answer = await connection.next();
  expect(answer).toMatchObject({ status: 200, body: Buffer.from('late') });
  expect(answer.header('connection')).toBe('close');
  expect(await connection.closed()).toHaveLength(0);
});

test('a sender of an invalid head that still sends its body is read, so that it gets the response', async () => {
  const { listener, connections } = create(createListener(() => false, LISTENER_TIMEOUTS));
  await connections.listen({ port: 0, host: '127.0.0.1' });
  using connection = await openRaw({ port: portOf(listener) });
  await connection.send('POST /h/a HTTP/1.1\r\nHost: h\r\nNot a name: 1\r\n\r\n');
  expect((await connection.next()).status).toBe(400);
  // More than the buffers of both kernels take.
  await connection.send(Buffer.alloc(16 * 1024 * 1024));
  connection.halfClose();
  expect(await connection.closed()).toHaveLength(0);
});
