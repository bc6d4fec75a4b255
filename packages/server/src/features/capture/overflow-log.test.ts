import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { TimeoutError, connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startNats } from '../../../test/nats-server.ts';
import type { NatsServer } from '../../../test/nats-server.ts';
import type { PackedCaptures } from '../../database/packed-captures.ts';
import { OverflowLog } from './overflow-log.ts';
import { NoOverflowLog, SilentOverflowLog } from './overflow-stream.ts';

let nats: NatsServer;
let storeDir: string;
let connection: NatsConnection;

beforeEach(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'creel-nats-'));
  nats = await startNats({ storeDir });
  connection = await connect({ servers: `127.0.0.1:${nats.port}` });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await connection.close();
  await nats.stop();
  await rm(storeDir, { recursive: true, force: true });
});

/** Repeats a call while nats-server needs more than the second that the log gives it, as on a busy machine. */
async function answered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof SilentOverflowLog)) throw error;
    }
  }
}

function openLog(maxBytes: number) {
  const log = new OverflowLog({ name: 'test', replicas: 1, maxBytes, connection: () => connection });
  return {
    append: (batch: PackedCaptures) => log.append(batch, 60_000),
    state: () => answered(() => log.state()),
    async next() {
      const taken = await answered(() => log.next());
      return taken && { ...taken, done: () => answered(taken.done) };
    },
  };
}

function batchOf(bytes: number): PackedCaptures {
  return { id: randomUUID(), count: 1, numbers: new Float64Array(5), bytes: new Uint8Array(bytes) };
}

test('the state shows what is left after the first file of the stream is removed', async () => {
  // nats-server then has files of 32 kB.
  const log = openLog(125_000);
  for (let nth = 0; nth < 140; nth += 1) await log.append(batchOf(10));
  expect(await log.state()).toMatchObject({ messages: 140, drainedTo: 0, lastPosition: 140 });
  const taken = await log.next();
  await taken?.done();
  expect(await log.state()).toMatchObject({ messages: 12, drainedTo: 128, lastPosition: 140 });
});

test('two nodes may read and remove the same batches, also one in parts', async () => {
  const [log, other] = [openLog(100_000_000), openLog(100_000_000)];
  const batches = [batchOf(10), batchOf(2_500_000), batchOf(10)];
  for (const batch of batches) await log.append(batch);
  for (const expected of [batches.slice(0, 1), batches.slice(1, 2), batches.slice(2)]) {
    const found = await Promise.all([log.next(), other.next()]);
    for (const one of found) expect(one?.batches.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    await Promise.all(found.map((one) => one?.done()));
  }
  expect(await log.next()).toBeUndefined();
  expect(await other.state()).toMatchObject({ messages: 0, drainedTo: 5, lastPosition: 5 });
});

test('few messages are read at once, so that each answer arrives in time over a slow link', async () => {
  const log = openLog(100_000_000);
  const batches = [batchOf(6_000_000), ...Array.from({ length: 10 }, () => batchOf(1000))];
  for (const batch of batches) await log.append(batch);
  const request = connection.request.bind(connection);
  let reads = 0;
  let mostReads = 0;
  vi.spyOn(connection, 'request').mockImplementation((subject, payload, options) => {
    const answer = request(subject, payload, { ...options, timeout: 60_000 });
    if (!subject.includes('STREAM.MSG.GET')) return answer;
    mostReads = Math.max(mostReads, (reads += 1));
    return answer.finally(() => (reads -= 1));
  });
  const large = await log.next();
  expect(large?.batches.map(({ id }) => id)).toEqual([batches[0]?.id]);
  expect(mostReads).toBe(4);
  await large?.done();
  const following = await log.next();
  expect(following?.batches.map(({ id }) => id)).toEqual(batches.slice(1).map(({ id }) => id));
  expect(mostReads).toBe(4);
});

test.each([
  ['STREAM.MSG.DELETE', async (log: OverflowLog) => (await log.next())?.done()],
  ['STREAM.INFO', (log: OverflowLog) => log.state()],
])('a log that is silent at %s is reported as silent', async (subject, call) => {
  const log = new OverflowLog({ name: 'test', replicas: 1, maxBytes: 100_000, connection: () => connection });
  await log.append(batchOf(10), 60_000);
  const request = connection.request.bind(connection);
  vi.spyOn(connection, 'request').mockImplementation((to, payload, options) => {
    if (to.includes(subject)) return Promise.reject(new TimeoutError());
    return request(to, payload, { ...options, timeout: 60_000 });
  });
  await expect(call(log)).rejects.toThrow(SilentOverflowLog);
});

test('a batch at a position that was assigned before is not drained', async () => {
  const log = openLog(100_000);
  for (let nth = 0; nth < 3; nth += 1) await log.append(batchOf(10));
  await (await log.next())?.done();
  expect(await log.next()).toBeUndefined();
  await (await jetstreamManager(connection)).streams.delete('creel-overflow-test');
  expect(await openLog(100_000).state()).toMatchObject({ messages: 0 });
  const again = batchOf(10);
  expect(await log.append(again)).toBe(1);
  await openLog(100_000).append(batchOf(10));
  expect(await log.state()).toMatchObject({ drainedTo: 0, lastPosition: 2 });
  expect((await log.next())?.batches[0]?.id).toBe(again.id);
});

test('parts are deleted after a minute, unless they belong to a batch', async () => {
  const elapsed = vi.spyOn(performance, 'now');
  const log = openLog(100_000_000);
  const batch = batchOf(2_500_000);
  await log.append(batch);
  const aloneAt = (await log.state()).lastPosition;
  connection.publish('creel.test.overflow.part', 'of a batch that was never completed');
  await connection.flush();
  elapsed.mockReturnValue(performance.now() + 61_000);
  expect(await log.state()).toMatchObject({ messages: 4, lastPosition: aloneAt + 1 });
  elapsed.mockRestore();
  const taken = await log.next();
  expect(taken?.batches).toMatchObject([{ id: batch.id, bytes: batch.bytes }]);
  await taken?.done();
  expect(await log.state()).toMatchObject({ messages: 1 });
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 200_000);
  await log.state();
  expect(await log.state()).toMatchObject({ messages: 0, drainedTo: aloneAt + 1 });
});

test('without JetStream there is no log', async () => {
  const bare = await startNats();
  onTestFinished(() => bare.stop());
  const others = await connect({ servers: `127.0.0.1:${bare.port}` });
  const log = new OverflowLog({ name: 'test', replicas: 1, maxBytes: 1000, connection: () => others });
  await expect(log.state()).rejects.toThrow(NoOverflowLog);
  await others.close();
});

test('a smaller maximum waits until the log is empty, because nats-server would delete batches', async () => {
  const log = openLog(1_000_000);
  for (let nth = 0; nth < 4; nth += 1) await log.append(batchOf(50_000));
  const smaller = openLog(100_000);
  expect(await smaller.state()).toMatchObject({ messages: 4 });
  await (await smaller.next())?.done();
  expect(await smaller.state()).toMatchObject({ messages: 0 });
  await expect(openLog(100_000).append(batchOf(150_000))).rejects.toThrow('full');
});

test('a log that NATS has lost is reported and created again', async () => {
  const onLost = vi.fn<() => void>();
  const log = new OverflowLog({ name: 'test', replicas: 1, maxBytes: 100_000, connection: () => connection, onLost });
  await answered(() => log.append(batchOf(10), 60_000));
  await (await jetstreamManager(connection)).streams.delete('creel-overflow-test');
  expect(onLost).not.toHaveBeenCalled();
  await expect(answered(() => log.state())).rejects.toThrow('stream not found');
  expect(onLost).toHaveBeenCalledOnce();
  await answered(() => log.append(batchOf(10), 60_000));
  expect(await answered(() => log.state())).toMatchObject({ messages: 1, drainedTo: 0, lastPosition: 1 });
});

test('an empty log is not full, although a batch was larger than it', async () => {
  const log = new OverflowLog({ name: 'test', replicas: 1, maxBytes: 100_000, connection: () => connection });
  await expect(answered(() => log.append(batchOf(150_000), 60_000))).rejects.toThrow('full');
  expect(log.isFull).toBe(true);
  await answered(() => log.state());
  expect(log.isFull).toBe(false);
});

test('a log that is larger than what nats-server may store fails with its reason', async () => {
  const config = join(storeDir, 'nats.conf');
  await writeFile(config, 'jetstream { max_file_store: 1000000 }');
  const small = await startNats({ storeDir, more: { config } });
  onTestFinished(() => small.stop());
  const others = await connect({ servers: `127.0.0.1:${small.port}` });
  const log = new OverflowLog({ name: 'test', replicas: 1, maxBytes: 2_000_000, connection: () => others });
  await expect(answered(() => log.state())).rejects.toThrow('insufficient storage resources');
  await others.close();
});
