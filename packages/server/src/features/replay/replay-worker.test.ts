import { afterEach, expect, test } from 'vitest';
import { openRawTarget } from '../../../test/raw-target.ts';
import { ReplayWorker } from './service.ts';

const carrier = new ReplayWorker();
afterEach(() => carrier.close());

const errandTo = (url: string, body = '') => ({
  method: 'POST',
  url,
  headers: [],
  body: Buffer.from(body),
  userAgent: 'Creel/test',
  allowPrivate: true,
  maxMs: 5000,
});
const nobodyLeaves = new AbortController().signal;

test('a thread that ends fails its own replays, and nothing else', async () => {
  const silent = await openRawTarget();
  const ended = new Promise<void>((resolve) => {
    silent.answer = () => void carrier.close().then(resolve);
  });
  await expect(carrier.sendRequest(errandTo(silent.url), nobodyLeaves)).rejects.toMatchObject({ code: 'INTERNAL' });
  await ended;
  const target = await openRawTarget();
  expect(await carrier.sendRequest(errandTo(target.url, 'again'), nobodyLeaves)).toMatchObject({ status: 200 });
  expect(target.received[0]?.toString().endsWith('again')).toBe(true);
  await Promise.all([silent.close(), target.close()]);
});

test('errors of a target pass the thread unchanged', async () => {
  await expect(carrier.sendRequest(errandTo('http://169.254.169.254/'), nobodyLeaves)).rejects.toMatchObject({
    code: 'TARGET_NOT_ALLOWED',
  });
});

test('an aborted caller is not waited for', async () => {
  const target = await openRawTarget();
  await expect(carrier.sendRequest(errandTo(target.url), AbortSignal.abort())).rejects.toMatchObject({
    code: 'REPLAY_FAILED',
  });
  await target.close();
});
