import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { portOf } from './listener.ts';
import { LargeAnswer, sendLarge } from './large-answer.ts';

const MIB = 1024 * 1024;
const SIZE = 24 * MIB;
const MAX_SILENCE_MS = 2000;

let server: FastifyInstance | undefined;
afterEach(() => server?.close());

/** A server whose only response has `SIZE` bytes, and a connection that has requested it. */
async function ask(
  content: () => LargeAnswer['content'],
  version = '1.1',
): Promise<{ reader: Socket; inServer: Socket }> {
  server = Fastify({ forceCloseConnections: true });
  server.get('/', (_request, reply) => sendLarge(reply, new LargeAnswer(SIZE, content()), MAX_SILENCE_MS));
  await server.listen({ port: 0, host: '127.0.0.1' });
  const accepted = new Promise<Socket>((resolve) => server?.server.once('connection', resolve));
  const reader = connect({ port: portOf(server.server), host: '127.0.0.1' });
  reader.on('error', () => undefined);
  reader.write(`GET / HTTP/${version}\r\nHost: h\r\n\r\n`);
  return { reader, inServer: await accepted };
}

function* pieces(): Generator<string> {
  for (let n = 0; n < SIZE; n += 64 * 1024) yield 'x'.repeat(64 * 1024);
}

const contents = { text: pieces, bytes: () => Buffer.alloc(SIZE, 'x') };

test.each(['text', 'bytes'] as const)('a reader that takes nothing of its %s is cut off', async (kind) => {
  const accepted = await ask(contents[kind]);
  await once(accepted.inServer, 'close');
  expect((await takeAll(accepted.reader, () => undefined)).length).toBeLessThan(SIZE);
});

test.each(['text', 'bytes'] as const)('a client that reads its %s slowly but steadily gets all of it', async (kind) => {
  const { reader } = await ask(contents[kind]);
  let mibs = 0;
  const taken = await takeAll(reader, (length) => {
    if (Math.floor(length / MIB) === mibs) return;
    mibs = Math.floor(length / MIB);
    reader.pause();
    // In total longer than a silent client is allowed.
    setTimeout(() => reader.resume(), 150);
  });
  expect(taken.isWhole).toBe(true);
});

test.each([
  ['its client reads nothing', pieces],
  [
    'its content fails',
    function* (): Generator<string> {
      yield* pieces().take(3);
      throw new Error('The database does not answer');
    },
  ],
])('a response without a length is not taken for a whole one if it ends because %s', async (_, content) => {
  const { reader, inServer } = await ask(content, '1.0');
  const end = new Promise((resolve) => {
    reader.once('error', resolve).once('end', () => resolve('no error'));
  });
  await once(inServer, 'close');
  reader.resume();
  expect(await end).toMatchObject({ code: 'ECONNRESET' });
});

/** Reads until the end of the connection or of the response. */
async function takeAll(reader: Socket, look: (length: number) => void): Promise<{ length: number; isWhole: boolean }> {
  let length = 0;
  let isWhole = false;
  await new Promise<void>((resolve) => {
    reader.on('close', resolve);
    reader.on('data', (data: Buffer) => {
      length += data.length;
      isWhole = length > SIZE;
      if (isWhole) resolve();
      else look(length);
    });
  });
  reader.destroy();
  return { length, isWhole };
}
