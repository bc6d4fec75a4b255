import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../../../fixtures/listen-locally.ts';
import { openRaw } from '../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../fixtures/raw-http.ts';
import { LoopTurns } from './loop-turns.ts';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { PlainConnection } from './plain-connection.ts';
import type { CaptureReply } from './plain-request.ts';
import type { PlainConnectionOptions } from './plain-connection.ts';

interface Taken {
  readonly target: string;
  readonly body: string | null;
  readonly reply: CaptureReply;
}

const refuseForMemory = () => ({ code: 'CAPTURE_UNAVAILABLE', retryAfter: 1 }) as const;

/** A listener whose plain requests the test answers, and the connections it hands over. */
async function listen(settings: Partial<PlainConnectionOptions> = {}, budget = new MemoryBudget({ bytes: 1_000_000 })) {
  const taken: Taken[] = [];
  const handedOver: Socket[] = [];
  /** What the parser would have read. */
  const read: string[] = [];
  const accepted: Socket[] = [];
  const connections: PlainConnection[] = [];
  const options: PlainConnectionOptions = {
    admit: ({ target }, _socket, bytesAtHand) => {
      const reservation = budget.reserve('sender');
      if (!reservation.grow(bytesAtHand)) return refuseForMemory();
      const capture = (body: Buffer | null, reply: CaptureReply): void => {
        reservation.release();
        taken.push({ target, body: body?.toString('latin1') ?? null, reply });
      };
      return { reservation, refuseForMemory, capture };
    },
    isOpen: () => true,
    handOver: (socket) => {
      handedOver.push(socket);
      socket.on('data', (bytes: Buffer) => read.push(bytes.toString()));
    },
    turns: new LoopTurns(),
    silenceMs: 60_000,
    keepAliveMs: 60_000,
    bodyMs: 60_000,
    ...settings,
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    connections.push(new PlainConnection(socket, options));
  });
  onTestFinished(() => void server.close());
  const port = await listenLocally(server);
  return { connections, taken, handedOver, read, accepted, budget, open: () => openRaw({ port }) };
}

/** A connection, its socket in the server, and the memory of each read. */
async function openWatched() {
  const { taken, open, accepted } = await listen();
  const connection = await open();
  await until(() => accepted.length === 1);
  const [socket] = accepted;
  const reads: ArrayBufferLike[] = [];
  socket?.prependListener('data', (bytes: Buffer) => reads.push(bytes.buffer));
  return { taken, connection, socket, reads };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(2);
}

const get = (rest: string, ...lines: string[]): string =>
  [`GET /h/${rest} HTTP/1.1`, 'Host: h', ...lines, '', ''].join('\r\n');

describe('a connection of plain requests', () => {
  test("answers sequential requests with the parser's exact bytes", async () => {
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

  test('a rejection has Retry-After, and the next request is accepted', async () => {
    const { taken, open } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    taken[0]?.reply.refused(refuseForMemory());
    const answer = await connection.next();
    expect([answer.status, answer.header('retry-after')]).toEqual([503, '1']);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'CAPTURE_UNAVAILABLE' });
    await connection.send(get('b'));
    await until(() => taken.length === 2);
    connection.close();
  });

  test('pipelined requests are accepted at once and answered in order', async () => {
    const { taken, open, handedOver } = await listen();
    const connection = await open();
    await connection.send(get('a') + get('b') + get('c'));
    await until(() => taken.length === 3);
    taken[2]?.reply.captured(12);
    taken[1]?.reply.refused({ code: 'RATE_LIMITED', retryAfter: 1 });
    await sleep(20);
    taken[0]?.reply.captured(10);
    const answers = [await connection.next(), await connection.next(), await connection.next()];
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 200]);
    expect(answers.map((answer) => answer.header('x-creel-request'))).toEqual(['10', undefined, '12']);
    expect(handedOver).toEqual([]);
    connection.close();
  });

  test('frees the memory of a read when all of its requests were read, and keeps their bodies', async () => {
    const { taken, connection, reads } = await openWatched();
    const post = (body: string): string => get('a', `Content-Length: ${body.length}`) + body;
    const bodies = Array.from({ length: 20 }, (_, nth) => `body ${nth}`.padEnd(300));
    await connection.send(bodies.map(post).join(''));
    await until(() => taken.length === 16);
    expect(reads.some(({ byteLength }) => byteLength > 0)).toBe(true);
    for (const { reply } of taken.slice()) reply.captured();
    await until(() => taken.length === 20);
    expect(taken.map(({ body }) => body)).toEqual(bodies);
    expect(reads.map(({ byteLength }) => byteLength)).toEqual(reads.map(() => 0));
    connection.close();
  });

  test('frees the memory of a read with unanswered requests when the sender closes', async () => {
    const { taken, connection, socket, reads } = await openWatched();
    await connection.send(get('a', `X-Padding: ${'x'.repeat(300)}`).repeat(20));
    await until(() => taken.length === 16);
    socket?.destroy();
    await until(() => reads.every(({ byteLength }) => byteLength === 0));
    expect(reads.length).toBeGreaterThan(0);
  });

  test('at most sixteen are in flight; the next is read when one is answered', async () => {
    const { taken, open, accepted } = await listen();
    const connection = await open();
    await connection.send(get('a').repeat(40));
    await until(() => accepted[0]?.isPaused() === true && taken.length > 0);
    await sleep(20);
    expect(taken.length).toBe(16);
    taken[0]?.reply.captured(0);
    await until(() => taken.length === 17);
    await sleep(20);
    expect(taken.length).toBe(17);
    connection.close();
  });

  test('other requests wait for the responses before them, and go to the parser', async () => {
    const { taken, open, handedOver, read, accepted } = await listen();
    const connection = await open();
    await connection.send(get('a'));
    await until(() => taken.length === 1);
    await connection.send('POST /h/c');
    await until(() => accepted[0]?.isPaused() === true);
    await sleep(20);
    expect([taken.length, handedOver.length]).toEqual([1, 0]);
    taken[0]?.reply.captured(7);
    expect((await connection.next()).header('x-creel-request')).toBe('7');
    await until(() => read.join('') === 'POST /h/c');
    expect(taken.length).toBe(1);
    connection.close();
  });

  test('a sender that closes its sending side gets its response, then the end', async () => {
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

  test('a sender that leaves before its response has no effect', async () => {
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
    answered = true;
    await connection.send(get('b'));
    await until(() => accepted[0]?.bytesRead === request.length + get('b').length);
    taken[0]?.reply.captured(7);
    const answer = await connection.next();
    expect([answer.header('x-creel-request'), answer.header('connection')]).toEqual(['7', 'close']);
    await connection.closed();
    expect([taken.length, handedOver.length]).toEqual([1, 0]);
  });
});

describe('the parser gets a connection', () => {
  test.each<[string, Partial<PlainConnectionOptions>, string]>([
    ['that says something else', {}, get('a').replace('HTTP/1.1', 'HTTP/1.0')],
    ['that begins with half a request', {}, get('a').slice(0, 12)],
    ['whose body has no declared length', {}, get('a', 'Transfer-Encoding: chunked')],
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
});

describe('a body', () => {
  const post = (length: number, rest = ''): string =>
    `POST /h/a HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\n${rest}`;

  test('may arrive in parts, and the next request with its end', async () => {
    const { taken, open, budget } = await listen();
    const connection = await open();
    for (const part of [post(10), '012', '3456', `789${get('b')}`]) {
      await connection.send(part);
      await sleep(10);
    }
    await until(() => taken.length === 2);
    expect(taken.map(({ target, body }) => [target, body])).toEqual([
      ['/h/a', '0123456789'],
      ['/h/b', null],
    ]);
    expect(budget.used).toBe(0);
    connection.close();
  });

  test.each<[string, (connection: RawConnection) => void]>([
    ['ends its side', (connection) => connection.halfClose()],
    ['resets', (connection) => connection.reset()],
  ])('of a sender that %s in the middle is not captured, and gives its memory back', async (_, leave) => {
    const { taken, open, budget, accepted } = await listen();
    const connection = await open();
    await connection.send(post(10, '0123'));
    await until(() => budget.used === 4);
    leave(connection);
    await until(() => budget.used === 0 && accepted[0]?.destroyed === true);
    expect(taken).toEqual([]);
  });

  test.each<[string, (connection: RawConnection) => void]>([
    ['ends its side', (connection) => connection.halfClose()],
    ['resets', (connection) => connection.reset()],
  ])('of a sender that %s while its endpoint is looked up gives its memory back', async (how, leave) => {
    const found = Promise.withResolvers<void>();
    const { open, accepted, budget } = await listen({ admit: () => found.promise.then(() => admission) });
    const reservation = budget.reserve('sender');
    reservation.grow(1);
    const admission = { reservation, refuseForMemory, capture: () => undefined };
    const connection = await open();
    await connection.send(post(10));
    leave(connection);
    await until(() => accepted[0]?.readableEnded === true || accepted[0]?.destroyed === true);
    found.resolve();
    await until(() => budget.used === 0);
    if (how === 'resets') return;
    const answer = await connection.next();
    expect([answer.status, answer.header('connection')]).toEqual([400, 'close']);
    await connection.closed();
  });

  test('that is late is rejected, and its memory released', async () => {
    const { taken, open, budget } = await listen({ bodyMs: 30 });
    const connection = await open();
    await connection.send(post(10, '0123'));
    const answer = await connection.next();
    expect([answer.status, answer.header('connection')]).toEqual([408, 'close']);
    await connection.closed();
    expect([taken.length, budget.used]).toEqual([0, 0]);
  });

  test('without memory is rejected and skipped, and the connection continues', async () => {
    const { taken, open, budget } = await listen({}, new MemoryBudget({ bytes: 5 }));
    const connection = await open();
    await connection.send(post(10, '0123'));
    await until(() => budget.used === 4);
    await connection.send(`456789${get('b')}`);
    expect((await connection.next()).status).toBe(503);
    await until(() => taken.length === 1);
    expect([taken[0]?.target, budget.used]).toEqual(['/h/b', 0]);
    connection.close();
  });

  test('of a rejected request is read to its end when the connection closes, so that the sender gets the response', async () => {
    const { open, taken } = await listen({ admit: () => ({ code: 'BODY_TOO_LARGE', close: true }) });
    const connection = await open();
    const size = 4_000_000;
    await connection.send(post(size));
    const sent = connection.send('x'.repeat(size)).catch(() => undefined);
    const answer = await connection.next();
    expect([answer.status, answer.header('connection')]).toEqual([413, 'close']);
    await connection.closed();
    await sent;
    expect(taken).toEqual([]);
  });

  test('is not read before its endpoint was found', async () => {
    let find: (verdict: { code: 'ENDPOINT_NOT_FOUND' }) => void = () => undefined;
    const admit: PlainConnectionOptions['admit'] = () => new Promise((resolve) => (find = resolve));
    const { open, accepted } = await listen({ admit });
    const connection = await open();
    await connection.send(post(4, '0123') + post(4, '0123'));
    await until(() => accepted[0]?.isPaused() === true);
    for (let nth = 0; nth < 2; nth += 1) {
      find({ code: 'ENDPOINT_NOT_FOUND' });
      expect((await connection.next()).status).toBe(404);
      await sleep(10);
    }
    connection.close();
  });
});

test('a sender that does not read its responses is not read until it does', async () => {
  const { taken, open, accepted } = await listen();
  const connection = await open();
  await connection.send(get('a'));
  await until(() => taken.length === 1);
  accepted[0]?.cork();
  accepted[0]?.write('x'.repeat(20_000));
  taken[0]?.reply.captured(7);
  await connection.send(get('b'));
  await until(() => accepted[0]?.isPaused() === true);
  expect(taken.length).toBe(1);
  accepted[0]?.uncork();
  await until(() => taken.length === 2);
  connection.close();
});

describe('an idle connection', () => {
  test('that is silent is closed in time', async () => {
    const { open, handedOver } = await listen({ silenceMs: 30 });
    const connection = await open();
    const answer = await connection.next();
    expect([answer.status, answer.header('connection')]).toEqual([408, 'close']);
    await connection.closed();
    expect(handedOver).toEqual([]);
  });

  test('is closed in time, but not while its sender waits for a response', async () => {
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

  test("can be closed; one that waits for a response can't", async () => {
    const { connections, taken, open } = await listen();
    const [idle, waiting] = [await open(), await open()];
    await waiting.send(get('a'));
    await until(() => taken.length === 1);
    expect(connections.map(({ isIdle, canClose }) => [isIdle, canClose])).toEqual([
      [true, true],
      [false, false],
    ]);
    idle.close();
    taken[0]?.reply.captured(7);
    expect((await waiting.next()).status).toBe(200);
    waiting.close();
  });
});
