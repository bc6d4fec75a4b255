import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { EMPTY_OK, openRawTarget, saying } from '../../../test/raw-target.ts';
import type { RawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { standingClock, startTestServer } from '../../../test/test-server.ts';
import { ReplayLimits, Replays } from './service.ts';

/** The limits of replays. Each node has its own, so these tests run with one node only. */
let client: TestClient;
let target: RawTarget;

const server = await startTestServer();
afterAll(() => server.stop());
beforeEach(async () => {
  target = await openRawTarget();
  ({ client } = await server.register());
});
afterEach(() => target.close());

const replay = (json: object, from: TestClient = client) => from.answerTo('/api/replay', { method: 'POST', json });

test('a user whose replays all wait leaves the target to others', async () => {
  const other = await server.register();
  const held: Socket[] = [];
  target.answer = (socket) => void held.push(socket);
  // More than the places of a user.
  let refused = 0;
  const flood = Array.from({ length: 250 }, async () => {
    const { status } = await replay({ method: 'GET', url: target.url });
    if (status !== 200) refused += 1;
  });
  await expect.poll(() => held).toHaveLength(10);
  // None of the others has a place before one of these ends.
  await expect.poll(() => refused).toBeGreaterThanOrEqual(40);
  target.answer = saying(EMPTY_OK);
  for (let nth = 0; nth < 5; nth += 1)
    expect(await replay({ method: 'GET', url: target.url }, other.client)).toMatchObject({ status: 200 });
  for (const socket of held) saying(EMPTY_OK)(socket);
  await Promise.all(flood);
});

test("replays beyond a user's limit do not count for the target", () => {
  const limits = new ReplayLimits(() => 0);
  const count = (user: number): boolean => {
    try {
      limits.count(user, 'target:80');
      return true;
    } catch {
      return false;
    }
  };
  const counted = (user: number, times: number): number =>
    Array.from({ length: times }, () => count(user)).filter(Boolean).length;
  expect(counted(1, 2000)).toBe(200);
  expect([2, 3, 4, 5, 6].map((user) => counted(user, 200))).toEqual([200, 200, 200, 200, 0]);
});

test('a replay whose turn comes too late is rejected within its time limit', async () => {
  await using hasty = await startTestServer({ replay: { maxMs: 600 } });
  const { client: their } = await hasty.register();
  target.answer = () => undefined;
  const all = await Promise.all(Array.from({ length: 25 }, () => replay({ method: 'GET', url: target.url }, their)));
  // Ten run at once. Some of the others may start late enough to get their time.
  expect(all.filter(({ status }) => status === 502).length).toBeGreaterThanOrEqual(10);
  expect(all.every(({ status }) => status === 502 || status === 503)).toBe(true);
  expect(all.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('10');
});

test('a replay whose turn comes with less than a third of its time left is not sent', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = { status: 200, statusText: '', headers: [], body: Buffer.alloc(0), isCut: false, durationMs: 1 };
  const options = { allowPrivate: true, now: () => 0, userAgent: () => '', maxMs: 3000 };
  const replays = new Replays({ ...options, sendRequest: async () => answer });
  const running: (() => void)[] = [];
  const caller = {
    userId: 1,
    signal: new AbortController().signal,
    whenDone: (done: () => void) => running.push(done),
  };
  const body = { method: 'GET', url: 'http://127.0.0.1:9/', headers: [], readBody: async () => Buffer.alloc(0) };
  const all = Array.from({ length: 12 }, () => replays.send(body, caller));
  const [intime, late] = all.slice(10);
  await Promise.all(all.slice(0, 10));
  vi.advanceTimersByTime(2000);
  running[0]?.();
  await expect(intime).resolves.toEqual(answer);
  vi.advanceTimersByTime(1);
  running[1]?.();
  await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a request that is saved while its replay waits is sent', async () => {
  const { uid } = await client.call('createEndpoint', { body: {} });
  await client.send(`/h/${uid}`, { method: 'POST', body: 'stored' });
  const held: Socket[] = [];
  target.answer = (socket) => void held.push(socket);
  const others = Array.from({ length: 10 }, () => replay({ method: 'GET', url: target.url }));
  await expect.poll(() => held).toHaveLength(10);
  const reads = vi.spyOn(server.store, 'findRequest');
  onTestFinished(() => reads.mockRestore());
  const last = replay({ method: 'POST', url: target.url, bodyFrom: { endpointUid: uid, id: -1_000_000 } });
  await expect.poll(() => reads.mock.settledResults.map(({ type }) => type)).toEqual(['fulfilled']);
  await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
  target.answer = saying(EMPTY_OK);
  for (const socket of held) saying(EMPTY_OK)(socket);
  expect((await Promise.all([...others, last])).map(({ status }) => status)).toEqual(
    Array.from({ length: 11 }, () => 200),
  );
});

test('sixty at once are all sent', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => replay({ method: 'POST', url: target.url, body: 'x' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
  expect(target.count()).toBe(60);
});

test('fifty large responses at once get memory one after another', async () => {
  // Without the limit of 30 s, which they need on a slow machine.
  await using patient = await startTestServer({ replay: { maxMs: 100_000 } });
  const { client: their } = await patient.register();
  target.answer = saying(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1024 * 1024)}`);
  const all = Array.from({ length: 50 }, () => replay({ method: 'GET', url: target.url }, their));
  const answers = await Promise.all(all);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
});

test('a flood ends: 429 with the time to wait, for any sender', async () => {
  // The clock is stopped, so that the limit does not recover during a slow test.
  await using stopped = await startTestServer({ clock: standingClock() });
  const { client: sender } = await stopped.register();
  const flood = () => replay({ method: 'GET', url: target.url }, sender);
  let answer = await flood();
  for (let nth = 0; nth < 400 && answer.status === 200; nth += 1) answer = await flood();
  expect(answer).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
});
