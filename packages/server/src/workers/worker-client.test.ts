import { afterEach, expect, test } from 'vitest';
import type { EchoMethods } from '../../test/echo-thread.ts';
import { LazyWorker, WorkerClient } from './worker-client.ts';
import { largeBuffersOf } from './worker-server.ts';

const OPTIONS = {
  file: new URL('../../test/echo-thread.ts', import.meta.url),
  name: 'echo',
  resourceLimits: {},
  errors: {
    encode: String,
    decode: (text: string): Error => new Error(text),
    ended: (cause: Error | undefined): Error => new Error('ended', { cause }),
  },
};

const started: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const worker of started.splice(0)) await worker.close();
});

async function startEcho(): Promise<WorkerClient<EchoMethods, string, string>> {
  const worker = await WorkerClient.start<EchoMethods, string, string>(OPTIONS);
  started.push(worker);
  return worker;
}

test('answers belong to their calls', async () => {
  const worker = await startEcho();
  expect(await Promise.all([1, 2, 3].map((input) => worker.call('double', input)))).toEqual([2, 4, 6]);
});

test('buffers are transferred to the worker', async () => {
  const worker = await startEcho();
  const bytes = Uint8Array.from([1, 2, 3]);
  const answer = await worker.call('echo', bytes, { transfer: [bytes.buffer] });
  expect(answer).toEqual(Uint8Array.from([1, 2, 3]));
  expect(bytes.length).toBe(0);
});

test('large buffers of an answer are transferred, wherever they are', () => {
  const large = (): Uint8Array => new Uint8Array(128 * 1024);
  const [first, second, whole, third] = [large(), large(), new Uint8Array(1024 * 1024), new ArrayBuffer(128 * 1024)];
  const part = whole.subarray(0, 512 * 1024);
  const answer = [
    { body: first, size: 1 },
    { found: [{ body: second }, { body: part }, { body: null }] },
    Buffer.of(1),
    { recycled: third },
  ];
  expect(largeBuffersOf(answer)).toEqual([first.buffer, second.buffer, third]);
});

test('an error of a method rejects its call only', async () => {
  const worker = await startEcho();
  await expect(worker.call('fail', 'too far')).rejects.toThrow('RangeError: too far');
  expect(await worker.call('double', 4)).toBe(8);
});

test('a call can be aborted, also before it starts', async () => {
  const worker = await startEcho();
  const controller = new AbortController();
  const running = worker.call('waitForAbort', undefined, { signal: controller.signal });
  controller.abort();
  expect(await running).toBe('aborted');
  expect(await worker.call('waitForAbort', undefined, { signal: AbortSignal.abort() })).toBe('aborted');
});

test('the latest update and each further one are reported', async () => {
  const worker = await startEcho();
  await worker.call('notify', 'early');
  await worker.call('notify', 'before');
  const updates: string[] = [];
  worker.watch((update) => updates.push(update));
  await worker.call('notify', 'after');
  expect(updates).toEqual(['before', 'after']);
});

test('a worker that is closed finishes its calls', async () => {
  const worker = await startEcho();
  const running = worker.call('doubleAfterTurns', 100);
  await worker.close();
  expect(await running).toBe(200);
});

test('the death of the worker rejects pending and later calls', async () => {
  const worker = await startEcho();
  const calls = [worker.call('waitForAbort', undefined), worker.call('crash', undefined)];
  const crashed = { message: 'ended', cause: { message: 'crashed' } };
  await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(crashed)));
  expect(worker.hasEnded).toBe(true);
  await expect(worker.call('double', 1)).rejects.toThrow('ended');
});

test('a crash is reported once, and the end of a terminated worker is not', async () => {
  const crashes: string[] = [];
  const worker = new LazyWorker<EchoMethods, string>({ ...OPTIONS, onCrash: ({ message }) => crashes.push(message) });
  await expect(worker.call('crash', undefined)).rejects.toThrow('ended');
  expect(await worker.call('double', 1)).toBe(2);
  await Promise.all([expect(worker.call('waitForAbort', undefined)).rejects.toThrow('ended'), worker.terminate()]);
  expect(crashes).toEqual(['crashed']);
});

test('a lazy worker starts again after it ended, but not after it was closed', async () => {
  const worker = new LazyWorker<EchoMethods, string>(OPTIONS);
  expect(await worker.call('double', 1)).toBe(2);
  await worker.terminate();
  expect(await worker.call('double', 2)).toBe(4);
  await worker.close();
  await expect(worker.call('double', 3)).rejects.toThrow('ended');
});
