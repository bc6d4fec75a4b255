import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openRawTarget, saying } from '../../../test/raw-target.ts';
import type { RawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

/** The limits of replays. Each node has its own, so these tests run with one node only. */
let server: TestServer;
let client: TestClient;
let target: RawTarget;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  target = await openRawTarget();
  ({ client } = await server.register());
});
afterEach(() => target.close());

const replay = (json: object, from: TestClient = client) => from.tell('/api/replay', { method: 'POST', json });

test('a user who floods a target leaves it to the others', async () => {
  // Twice the places of a user.
  const flood = Array.from({ length: 400 }, () => replay({ method: 'GET', url: target.url }));
  const other = await server.register();
  const answers = [];
  for (let nth = 0; nth < 5; nth += 1) answers.push(await replay({ method: 'GET', url: target.url }, other.client));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const told = (await Promise.all(flood)).map(({ status }) => status);
  expect(told.filter((status) => status !== 200).length).toBeGreaterThan(100);
});

test('a replay whose turn comes too late is rejected within its time limit', async () => {
  const hasty = await startTestServer({ replay: { maxMs: 600 } });
  const { client: their } = await hasty.register();
  target.answer = () => undefined;
  const all = await Promise.all(Array.from({ length: 25 }, () => replay({ method: 'GET', url: target.url }, their)));
  // Ten run at once. Some of the others may start late enough to get their time.
  expect(all.filter(({ status }) => status === 502).length).toBeGreaterThanOrEqual(10);
  expect(all.every(({ status }) => status === 502 || status === 503)).toBe(true);
  expect(all.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('10');
  await hasty.stop();
});

test('many at once are all sent, with limited concurrency', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => replay({ method: 'POST', url: target.url, body: 'x' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
  expect(target.count()).toBe(60);
});

test('fifty large responses at once get memory one after another', async () => {
  target.answer = saying(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1024 * 1024)}`);
  const answers = await Promise.all(Array.from({ length: 50 }, () => replay({ method: 'GET', url: target.url })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
});

test('a flood ends: 429 with the time to wait, for any sender', async () => {
  // The clock is stopped, so that the limit does not recover during a slow test.
  const stopped = await startTestServer({ clock: { now: () => 1_800_000_000_000, advance: () => undefined } });
  onTestFinished(() => stopped.stop());
  const { client: sender } = await stopped.register();
  const flood = () => replay({ method: 'GET', url: target.url }, sender);
  let answer = await flood();
  for (let nth = 0; nth < 400 && answer.status === 200; nth += 1) answer = await flood();
  expect(answer).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
});
