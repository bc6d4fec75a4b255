import { ApiError } from '@creel/contract';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../connection.ts';
import { capturedAt } from '../testing/captured-at.ts';
import { send, startLiveStand } from '../testing/live-stand.ts';
import type { LiveStand } from '../testing/live-stand.ts';
import { Feed } from './feed.ts';
import type { FeedOptions } from './feed.ts';
import { openSocket } from './open-socket.ts';
import { watch } from './watch.ts';

const EXPIRES = '2030-01-02T00:00:00.000Z';
const HOUR = 3_600_000;

let stand: LiveStand;
let clock: number;
beforeEach(async () => {
  clock = Date.parse(EXPIRES) - HOUR;
  stand = await startLiveStand(() => clock);
});
afterEach(() => stand.stop());

/** A follower of the stand whose clock has been heard once. */
async function begin(given: Partial<FeedOptions> = {}, expiresAt: string | null = null) {
  const connection = connect({ server: stand.origin, cookies: {} });
  await connection.client.call('getEndpoint', { params: { uid: 'abc' } });
  const seen: number[] = [];
  const told: string[] = [];
  const stop = new AbortController();
  const feed = new Feed({
    from: 0,
    newFrom: 0,
    async *storedBetween() {},
    show: async ({ index }) => void seen.push(index),
    tellGone: async () => {},
    ...given,
  });
  const ended = watch({
    connection,
    endpoint: { uid: 'abc', expiresAt },
    feed,
    signal: stop.signal,
    tell: (sentence) => told.push(sentence),
    reconnectMs: 5,
  });
  return { ended, seen, told, stop: () => stop.abort() };
}

test('an endpoint that has expired by the clock of the server ends it, after what it still holds', async () => {
  clock = Date.parse(EXPIRES) + HOUR;
  stand.answer = { status: 200, expiresAt: EXPIRES };
  const { ended, seen } = await begin(
    {
      async *storedBetween() {
        yield capturedAt(0);
      },
    },
    EXPIRES,
  );
  await expect(ended).rejects.toThrow('This endpoint has expired.');
  expect(seen).toEqual([0]);
});

test('an expiry that was moved meanwhile does not end it', async () => {
  clock = Date.parse(EXPIRES) + HOUR;
  const opened = stand.opened();
  const { ended, seen, stop } = await begin({}, EXPIRES);
  await vi.waitUntil(() => stand.calls() === 2);
  send(await opened, { type: 'request', data: capturedAt(0) });
  await vi.waitUntil(() => seen.length === 1);
  stop();
  await expect(ended).resolves.toBeUndefined();
});

test('news of the endpoint can end it', async () => {
  const opened = stand.opened();
  const { ended } = await begin();
  const expired = new Date(clock - HOUR).toISOString();
  stand.answer = { status: 200, expiresAt: expired };
  const found = await (await fetch(stand.origin)).json();
  (await opened).send(JSON.stringify({ type: 'endpoint', data: found }));
  await expect(ended).rejects.toThrow('This endpoint has expired.');
});

test.each([
  [4401, 'The session has ended. Sign in with: creel login'],
  [4404, 'The endpoint was deleted.'],
])('%i ends it, after what came before', async (code, sentence) => {
  const opened = stand.opened();
  const { ended, seen } = await begin();
  const socket = await opened;
  send(socket, { type: 'init', data: [capturedAt(1), capturedAt(0)] });
  socket.close(code);
  await expect(ended).rejects.toThrow(sentence);
  expect(seen).toEqual([0, 1]);
});

test('whatever goes wrong while fetching is made up for after the next connection', async () => {
  let failures = 1;
  const first = stand.opened();
  const { ended, seen, told, stop } = await begin({
    async *storedBetween(from, below = 0) {
      if ((failures -= 1) >= 0) throw new ApiError(503, 'The server is busy. Please try again in a moment.');
      for (let index = from; index < below; index += 1) yield capturedAt(index);
    },
  });
  const second = first.then(() => stand.opened());
  send(await first, { type: 'request', data: capturedAt(2) });
  send(await first, { type: 'request', data: capturedAt(3) });
  send(await second, { type: 'init', data: [capturedAt(4)] });
  await vi.waitUntil(() => seen.length === 5);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(told).toEqual(['The connection is lost. Trying again.', 'Connected again.']);
  stop();
  await ended;
});

/** A follower whose connection is lost while calls are answered with this status. */
async function loseConnection(status: number) {
  const first = stand.opened();
  const follower = await begin();
  const socket = await first;
  stand.answer = { status, expiresAt: null };
  const second = stand.opened();
  socket.terminate();
  return { ...follower, second };
}

test.each([503, 429])('a call that is answered %i while away is no end', async (status) => {
  const { second, seen, stop, ended } = await loseConnection(status);
  send(await second, { type: 'init', data: [capturedAt(0)] });
  await vi.waitUntil(() => seen.length === 1);
  stop();
  await expect(ended).resolves.toBeUndefined();
});

test.each([302, 401, 404])('a call that is answered %i while away is one', async (status) => {
  const { ended } = await loseConnection(status);
  await expect(ended).rejects.toThrow(`${status}: No.`);
});

test('an answer that is not understood is one, in place of trying for ever', async () => {
  const first = stand.opened();
  const { ended } = await begin();
  stand.answer = { status: 200, expiresAt: 'soon' };
  (await first).terminate();
  await expect(ended).rejects.toThrow('gave an answer that this version of creel does not understand.');
});

test('a reader that is slow makes the server wait, and misses nothing', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const seen: number[] = [];
  const opened = stand.opened();
  const { ended, stop } = await begin({
    async show({ index }) {
      await released;
      seen.push(index);
    },
  });
  const socket = await opened;
  const body = 'x'.repeat(8000);
  for (let index = 0; index < 4000; index += 1) send(socket, { type: 'request', data: { ...capturedAt(index), body } });
  await sleep(500);
  expect(socket.bufferedAmount).toBeGreaterThan(0);
  release();
  await vi.waitUntil(() => seen.length === 4000, { timeout: 20_000 });
  expect(seen.every((index, at) => index === at)).toBe(true);
  stop();
  await ended;
});

test('a server that has fallen silent is left; one that pings is not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const opened = stand.opened();
  const socket = openSocket(stand.origin.replace('http', 'ws'), {});
  const other = await opened;
  for (let minute = 0; minute < 3; minute += 1) {
    other.ping();
    await once(socket, 'ping');
    vi.advanceTimersByTime(60_000);
  }
  expect(socket.readyState).toBe(socket.OPEN);
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await once(socket, 'close');
});
