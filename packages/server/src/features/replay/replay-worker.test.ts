import type { Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openRawTarget } from '../../../test/raw-target.ts';
import { Replays } from './service.ts';

const OPTIONS = { allowPrivate: true, now: Date.now, userAgent: () => 'Creel/test', maxMs: 5000 };
const replays = new Replays(OPTIONS);
afterEach(() => replays.close());

const requestTo = (url: string, body = '') => ({
  userId: 1,
  method: 'POST',
  url,
  headers: [],
  body: Buffer.from(body),
  keptBytes: 1024,
});
const neverAborts = new AbortController().signal;

test('a thread that ends fails its own replays, and nothing else', async () => {
  const silent = await openRawTarget();
  const ended = new Promise<void>((resolve) => {
    silent.answer = () => void replays.close().then(resolve);
  });
  await expect(replays.forward(requestTo(silent.url), neverAborts)).rejects.toMatchObject({ code: 'INTERNAL' });
  await ended;
  const target = await openRawTarget();
  expect(await replays.forward(requestTo(target.url, 'again'), neverAborts)).toMatchObject({ status: 200 });
  expect(target.received[0]?.toString().endsWith('again')).toBe(true);
  await Promise.all([silent.close(), target.close()]);
});

test('errors of a target pass the thread unchanged', async () => {
  await expect(replays.forward(requestTo('http://169.254.169.254/'), neverAborts)).rejects.toMatchObject({
    code: 'TARGET_NOT_ALLOWED',
  });
});

test('an aborted caller is not waited for', async () => {
  await using target = await openRawTarget();
  await expect(replays.forward(requestTo(target.url), AbortSignal.abort())).rejects.toMatchObject({
    code: 'REPLAY_FAILED',
  });
});

test('a large body is moved to the thread, so that it is in memory once', async () => {
  await using target = await openRawTarget();
  const request = { ...requestTo(target.url), body: Buffer.alloc(1024 * 1024, 'x') };
  const sent = replays.forward(request, neverAborts);
  await expect.poll(() => target.count()).toBe(1);
  expect(request.body).toHaveLength(0);
  expect(await sent).toMatchObject({ status: 200 });
  expect(target.received[0]?.toString().endsWith('x'.repeat(1024 * 1024))).toBe(true);
});

test('responses to as many deliveries as there are at a time fit into its memory, with the most headers', async () => {
  const patient = new Replays({ ...OPTIONS, maxMs: 100_000 });
  onTestFinished(() => patient.close());
  await using target = await openRawTarget();
  const held: Socket[] = [];
  const lines = Array.from({ length: 4000 }, (_, nth) => `${nth}: 12345678\r\n`).join('');
  target.answer = (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${lines}\r\nbody`);
    held.push(socket);
  };
  const sent = Array.from({ length: 256 }, async () => {
    const answered = patient.forward(requestTo(target.url), neverAborts);
    return answered.then(({ status }) => status, String);
  });
  await expect.poll(() => held).toHaveLength(sent.length);
  for (const socket of held) socket.end();
  expect(new Set(await Promise.all(sent))).toEqual(new Set([200]));
});

test('a response in pieces of one byte fits into its memory, and is cut off', async () => {
  const patient = new Replays({ ...OPTIONS, maxMs: 100_000 });
  onTestFinished(() => patient.close());
  await using target = await openRawTarget();
  const pieces = '1\r\na\r\n'.repeat(10_000);
  target.answer = (socket) => {
    const write = (): void => {
      while (!socket.destroyed && socket.write(pieces));
    };
    socket.on('drain', write).write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    write();
  };
  const request = { ...requestTo(target.url), keptBytes: 1024 * 1024 };
  const { body, ...response } = await patient.forward(request, neverAborts);
  expect(response).toMatchObject({ status: 200, isCut: true });
  expect(body.toString()).toBe('a'.repeat(104_858));
});
