import { ApiError } from '@creel/contract';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { connect } from './connection.ts';
import { sampleRequest } from '../../../fixtures/sample-request.ts';
import { send, startLiveServerStub } from '../test/live-server-stub.ts';
import type { LiveServerStub } from '../test/live-server-stub.ts';
import { CaptureFeed } from './capture-feed.ts';
import type { CaptureFeedOptions } from './capture-feed.ts';
import { openSocket, watchLive } from './live-watch.ts';

const EXPIRES = '2030-01-02T00:00:00.000Z';
const HOUR = 3_600_000;

let server: LiveServerStub;
let clock: number;
beforeEach(async () => {
  clock = Date.parse(EXPIRES) - HOUR;
  server = await startLiveServerStub(() => clock);
});
afterEach(() => server.stop());

/** A watch that has read the server's clock. */
async function begin(given: Partial<CaptureFeedOptions> = {}, expiresAt: string | null = null) {
  const connection = connect({ server: server.origin, cookies: {} });
  await connection.client.call('getEndpoint', { params: { uid: 'abc' } });
  const seen: number[] = [];
  const notices: string[] = [];
  const stop = new AbortController();
  const feed = new CaptureFeed({
    from: 0,
    newFrom: 0,
    async *storedBetween() {},
    onCapture: async ({ index }) => void seen.push(index),
    onDeleted: async () => {},
    ...given,
  });
  const ended = watchLive({
    connection,
    endpoint: { uid: 'abc', expiresAt },
    feed,
    signal: stop.signal,
    ended: new AbortController(),
    notify: (sentence) => notices.push(sentence),
    reconnectMs: 5,
  });
  return { ended, seen, notices, stop: () => stop.abort() };
}

/** A watch of an endpoint that has expired. */
function beginExpired(storedBetween: CaptureFeedOptions['storedBetween']) {
  clock = Date.parse(EXPIRES) + HOUR;
  server.answer = { status: 200, expiresAt: EXPIRES };
  return begin({ storedBetween }, EXPIRES);
}

test('an expired endpoint ends it by the clock of the server, after the stored captures', async () => {
  const { ended, seen } = await beginExpired(async function* () {
    yield sampleRequest(0);
  });
  await expect(ended).rejects.toThrow('This endpoint has expired.');
  expect(seen).toEqual([0]);
});

test('an expired endpoint does not end it before its stored captures could be read', async () => {
  let failures = 2;
  const { ended, seen } = await beginExpired(async function* () {
    if ((failures -= 1) >= 0) throw new ApiError(0, 'The server could not be reached.');
    yield sampleRequest(0);
  });
  await expect(ended).rejects.toThrow('This endpoint has expired.');
  expect(seen).toEqual([0]);
});

test('an expiry that has moved does not end it', async () => {
  clock = Date.parse(EXPIRES) + HOUR;
  const opened = server.opened();
  const { ended, seen, stop } = await begin({}, EXPIRES);
  await expect.poll(() => server.calls()).toBe(2);
  send(await opened, { type: 'request', data: sampleRequest(0) });
  await expect.poll(() => seen.length).toBe(1);
  stop();
  await expect(ended).resolves.toBeUndefined();
});

test('an endpoint message with a past expiry ends it', async () => {
  const opened = server.opened();
  const { ended } = await begin();
  const expired = new Date(clock - HOUR).toISOString();
  server.answer = { status: 200, expiresAt: expired };
  const found = await (await fetch(server.origin)).json();
  (await opened).send(JSON.stringify({ type: 'endpoint', data: found }));
  await expect(ended).rejects.toThrow('This endpoint has expired.');
});

test.each([
  [4401, 'The session has ended. Log in with: creel login'],
  [4404, 'The endpoint was deleted.'],
])('%i ends it after earlier captures', async (code, sentence) => {
  const opened = server.opened();
  const { ended, seen } = await begin();
  const socket = await opened;
  send(socket, { type: 'init', data: [sampleRequest(1), sampleRequest(0)] });
  socket.close(code);
  await expect(ended).rejects.toThrow(sentence);
  expect(seen).toEqual([0, 1]);
});

test('captures missed through a failed call follow after the next connection', async () => {
  let failures = 1;
  const first = server.opened();
  const { ended, seen, notices, stop } = await begin({
    async *storedBetween(from, below = 0) {
      if ((failures -= 1) >= 0) throw new ApiError(503, 'The server is busy. Please try again in a moment.');
      for (let index = from; index < below; index += 1) yield sampleRequest(index);
    },
  });
  const second = first.then(() => server.opened());
  send(await first, { type: 'request', data: sampleRequest(2) });
  send(await first, { type: 'request', data: sampleRequest(3) });
  send(await second, { type: 'init', data: [sampleRequest(4)] });
  await expect.poll(() => seen.length).toBe(5);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(notices).toEqual(['The connection is lost. Trying again.', 'Connected again.']);
  stop();
  await ended;
});

/** A watch that loses its connection while calls return this status, or this page of something else than Creel. */
async function loseConnection(status: number, page?: string) {
  const first = server.opened();
  const follower = await begin();
  const socket = await first;
  server.answer = { status, expiresAt: null, ...(page === undefined ? {} : { page }) };
  const second = server.opened();
  socket.terminate();
  return { ...follower, second };
}

test.each([503, 429])('a call that returns %i while disconnected does not end it', async (status) => {
  const { second, seen, stop, ended } = await loseConnection(status);
  send(await second, { type: 'init', data: [sampleRequest(0)] });
  await expect.poll(() => seen.length).toBe(1);
  stop();
  await expect(ended).resolves.toBeUndefined();
});

test.each([302, 401, 404])('a call that returns %i while disconnected ends it', async (status) => {
  const { ended } = await loseConnection(status);
  await expect(ended).rejects.toThrow(`${status}: No.`);
});

test.each([200, 302, 403, 404])('a page with %i of a captive portal or a proxy does not end it', async (status) => {
  const { second, seen, notices, stop, ended } = await loseConnection(status, '<!doctype html>');
  send(await second, { type: 'init', data: [sampleRequest(0)] });
  await expect.poll(() => seen.length).toBe(1);
  expect(notices).toEqual([
    'The connection is lost. Trying again.',
    `The server answered ${status}, but the response is not from a Creel server.`,
    'Connected again.',
  ]);
  stop();
  await expect(ended).resolves.toBeUndefined();
});

test('a response that is not understood ends it', async () => {
  const first = server.opened();
  const { ended } = await begin();
  server.answer = { status: 200, expiresAt: 'soon' };
  (await first).terminate();
  await expect(ended).rejects.toThrow('gave an answer that this version of creel does not understand.');
});

test('a slow reader makes the server wait and misses nothing', async () => {
  const paused = vi.spyOn(WebSocket.prototype, 'pause');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const seen: number[] = [];
  const opened = server.opened();
  const { ended, stop } = await begin({
    async onCapture({ index }) {
      await released;
      seen.push(index);
    },
  });
  const socket = await opened;
  const body = 'x'.repeat(8000);
  for (let index = 0; index < 4000; index += 1)
    send(socket, { type: 'request', data: { ...sampleRequest(index), body } });
  await expect.poll(() => paused.mock.calls.length).toBeGreaterThan(0);
  expect(socket.bufferedAmount).toBeGreaterThan(0);
  release();
  await expect.poll(() => seen.length).toBe(4000);
  expect(seen.every((index, at) => index === at)).toBe(true);
  stop();
  await ended;
});

test('a server that disconnects a slow reader is not reported as lost', async () => {
  const paused = vi.spyOn(WebSocket.prototype, 'pause');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const first = server.opened();
  const { ended, seen, notices, stop } = await begin({
    async *storedBetween(from, below = 0) {
      for (let index = from; index < below; index += 1) yield sampleRequest(index);
    },
    async onCapture({ index }) {
      await released;
      seen.push(index);
    },
  });
  const socket = await first;
  for (let index = 0; index < 4000; index += 1)
    send(socket, { type: 'request', data: { ...sampleRequest(index), body: 'x'.repeat(8000) } });
  await expect.poll(() => paused.mock.calls.length).toBeGreaterThan(0);
  const second = server.opened();
  socket.terminate();
  release();
  send(await second, { type: 'init', data: [sampleRequest(4000)] });
  await expect.poll(() => seen.length).toBe(4001);
  expect(notices).toEqual([]);
  paused.mockRestore();
  const third = server.opened();
  (await second).terminate();
  send(await third, { type: 'init', data: [] });
  await expect.poll(() => notices).toEqual(['The connection is lost. Trying again.', 'Connected again.']);
  stop();
  await ended;
});

test('a silent server is disconnected, one that pings is not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const opened = server.opened();
  const socket = openSocket(server.origin.replace('http', 'ws'), {});
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
