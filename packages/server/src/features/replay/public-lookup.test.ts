import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { lookUpInPublic, resolveTarget } from './target.ts';

const TYPE_A = 1;
const HEAD_BYTES = 12;
/** A response without an error, and the record `A 8.8.8.8` of the name in the question (RFC 1035 4.1). */
const ANSWERED = 0x8580;
const RECORD = Buffer.from([0xc0, HEAD_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 8, 8, 8, 8]);

/** A name server that ignores questions for IPv6 addresses (RFC 4074 4.1), and all about `silent.example`. */
const nameServer = createSocket('udp4', (query, { port }) => {
  const end = query.indexOf(0, HEAD_BYTES) + 1;
  if (query.readUInt16BE(end) !== TYPE_A || query.includes('silent')) return;
  const head = Buffer.from(query.subarray(0, end + 4));
  head.writeUInt16BE(ANSWERED, 2);
  head.writeUInt16BE(1, 6);
  head.writeUInt16BE(0, 10);
  nameServer.send(Buffer.concat([head, RECORD]), port, '127.0.0.1');
});
nameServer.bind(0, '127.0.0.1');
await once(nameServer, 'listening');
afterAll(() => nameServer.close());

/** Whether the question for IPv4 addresses has its answer. */
let isAnswered: () => boolean;

beforeEach(() => {
  const { resolve4 } = Resolver.prototype;
  const { mock } = vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(function ask(
    this: Resolver,
    name,
    options,
  ) {
    // For the next questions, too.
    this.setServers([`127.0.0.1:${nameServer.address().port}`]);
    return resolve4.call(this, name, options);
  });
  isAnswered = () => mock.settledResults[0]?.type === 'fulfilled';
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
});

const resolved = (host: string) =>
  resolveTarget({ host, port: 80 }, { allowPrivate: false, lookUp: lookUpInPublic, userId: 1 });

test('a name whose server ignores questions for IPv6 addresses has its IPv4 addresses', async () => {
  const found = resolved('old.example').catch(String);
  await expect.poll(isAnswered).toBe(true);
  await vi.advanceTimersByTimeAsync(4000);
  // A canceled question ends in a later turn of the event loop.
  await nextTurn();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await found).toEqual(['8.8.8.8']);
});

test('a name whose server ignores all questions is reported as too slow', async () => {
  const found = resolved('silent.example').catch(String);
  await vi.advanceTimersByTimeAsync(4000);
  expect(await found).toContain('The name silent.example could not be looked up in time.');
});
