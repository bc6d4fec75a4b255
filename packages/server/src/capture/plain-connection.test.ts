import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openRaw } from '../../../../fixtures/raw-http.ts';
import { PlainConnections } from './plain-connection.ts';
import type { PlainTraffic } from './plain-connection.ts';
import type { CaptureReply } from './capture-reply.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A listener whose plain requests the test answers, and whose other connections it gets. */
async function listen(settings: Partial<PlainTraffic> = {}) {
  const taken: { target: string; reply: CaptureReply }[] = [];
  const handedOver: Socket[] = [];
  /** What the parser would have read. */
  const read: string[] = [];
  const accepted: Socket[] = [];
  const connections = new PlainConnections({
    handle: (request, _socket, reply) => taken.push({ target: request.target, reply }) > 0,
    isOpen: () => true,
    handOver: (socket) => {
      handedOver.push(socket);
      socket.on('data', (bytes: Buffer) => read.push(bytes.toString()));
    },
    keepAliveMs: 60_000,
    ...settings,
  });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    connections.adopt(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { connections, taken, handedOver, read, accepted, open: () => openRaw({ port }) };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(2);
}

const get = (rest: string, ...lines: string[]): string =>
  [`GET /h/${rest} HTTP/1.1`, 'Host: h', ...lines, '', ''].join('\r\n');

describe('a connection of plain requests', () => {
  test('answers one after the other, with the bytes that the parser would answer', async () => {
    const { taken, open, handedOver } = await listen();
    const connection = await open();
    for (const index of [0, 1, 41]) {
      await connection.send(get(`a${index}`));
      await until(() => taken.length === 1);
      taken.pop()?.reply.captured(index);
      const answer = await connection.next();
      expect([answer.status, answer.header('x-creel-request'), answer.body.toString()]).toEqual([
        200,
        String(index),
        '{"ok":true}',
      ]);
      expect(answer.header('connection')).toBe('keep-alive');
    }
    expect(handedOver).toEqual([]);
    connection.close();
  });

  test('a refusal says when to come back, and the next request is taken', async () => {
    const { taken, open } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    taken[0]?.reply.refused('CAPTURE_UNAVAILABLE', 1);
    const answer = await connection.next();
    expect([answer.status, answer.header('retry-after')]).toEqual([503, '1']);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'CAPTURE_UNAVAILABLE' });
    await connection.send(get('b'));
    await until(() => taken.length === 2);
    connection.close();
  });

  test('what was sent ahead of the answer is read behind it, by the parser', async () => {
    const { taken, open, handedOver, read, accepted } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    await connection.send(get('b'));
    await until(() => accepted[0]?.isPaused() === true);
    await connection.send('POST /h/c');
    await sleep(20);
    expect([taken.length, handedOver.length]).toEqual([1, 0]);
    taken[0]?.reply.captured(7);
    expect((await connection.next()).header('x-creel-request')).toBe('7');
    await until(() => read.join('') === `${get('b')}POST /h/c`);
    expect(taken.length).toBe(1);
    connection.close();
  });

  test('a sender that says no more gets its answer, then the end', async () => {
    const { taken, open } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    connection.halfClose();
    await until(() => taken.length === 1);
    await sleep(20);
    taken[0]?.reply.captured(7);
    expect((await connection.next()).header('x-creel-request')).toBe('7');
    expect(await connection.closed()).toHaveLength(0);
  });

  test('a sender that goes away before its answer harms nobody', async () => {
    const { taken, open, accepted } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    connection.reset();
    await until(() => accepted[0]?.destroyed === true);
    expect(() => taken[0]?.reply.captured(7)).not.toThrow();
  });

  test.each([
    ['the sender asked for it', true, get('a', 'Connection: close')],
    ['the server stops meanwhile', false, get('a')],
  ])('the last answer says so, and nothing behind it is read: %s', async (_, isOpen, request) => {
    let answered = false;
    const { taken, open, handedOver, accepted } = await listen({ isOpen: () => isOpen || !answered });
    const connection = await open();
    await connection.send(request);
    await until(() => taken.length === 1);
    await connection.send(get('b'));
    await until(() => accepted[0]?.isPaused() === true);
    answered = true;
    taken[0]?.reply.captured(7);
    const answer = await connection.next();
    expect([answer.header('x-creel-request'), answer.header('connection')]).toEqual(['7', 'close']);
    await connection.closed();
    expect([taken.length, handedOver.length]).toEqual([1, 0]);
  });
});

describe('the parser gets a connection', () => {
  test.each<[string, Partial<PlainTraffic>, string]>([
    ['that says something else', {}, get('a').replace('HTTP/1.1', 'HTTP/1.0')],
    ['that begins with half a request', {}, get('a').slice(0, 12)],
    ['whose request is not for here', { handle: () => false }, get('a')],
    ['of a server that stops', { isOpen: () => false }, get('a')],
  ])('%s, with all that was read', async (_, settings, bytes) => {
    const { taken, open, handedOver, read } = await listen(settings);
    const connection = await open();
    await connection.send(bytes);
    await until(() => handedOver.length === 1);
    await connection.send('and more');
    await until(() => read.join('') === `${bytes}and more`);
    expect(taken).toEqual([]);
    expect(handedOver[0]?.listenerCount('data')).toBe(1);
    connection.close();
  });

  test('that says nothing', async () => {
    const { open, handedOver } = await listen();
    const connection = await open();
    await until(() => handedOver.length === 1);
    expect(handedOver[0]?.timeout).toBe(0);
    connection.close();
  });

  test('whose sender does not fetch its answers', async () => {
    const { taken, open, handedOver, accepted } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    accepted[0]?.cork();
    taken[0]?.reply.captured(7);
    await connection.send(get('b'));
    await until(() => handedOver.length === 1);
    expect(taken.length).toBe(1);
    connection.close();
  });
});

describe('an idle connection', () => {
  test('is closed in time, but not while its sender waits for an answer', async () => {
    const { taken, open, accepted } = await listen({ keepAliveMs: 30 });
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    await sleep(100);
    expect(accepted[0]?.destroyed).toBe(false);
    taken[0]?.reply.captured(7);
    expect((await connection.next()).status).toBe(200);
    await connection.closed();
    expect(accepted[0]?.destroyed).toBe(true);
  });

  test('is closed when the server stops, one that waits for its answer is not', async () => {
    const { connections, taken, open, accepted } = await listen();
    const [idle, waiting] = [await open(), await open()];
    await waiting.send(get('a'));
    await until(() => taken.length === 1);
    connections.closeIdle();
    await idle.closed();
    expect(accepted.map((socket) => socket.destroyed)).toEqual([true, false]);
    taken[0]?.reply.captured(7);
    expect((await waiting.next()).status).toBe(200);
    waiting.close();
  });
});
