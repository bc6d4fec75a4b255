import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { metricOf } from '../../../test/metric.ts';
import { startServerProcess } from '../../../test/server-process.ts';
import { expectUnharmed, startWireApp } from '../../../test/wire-app.ts';

/** However many requests a connection sends ahead of its responses, the others are served meanwhile. */
const MIB = 1024 * 1024;
const COUNT = 20_000;
const STATUS_LINE = Buffer.from('HTTP/1.1 ');

const floods: Flood[] = [];
const app = await startWireApp({ MAX_UNSAVED_PER_ENDPOINT: '100000' });
afterEach(async () => {
  for (const flood of floods.splice(0)) flood.socket.destroy();
  // Queued captures would slow down the next test.
  while ((await metricOf(app.server.origin, 'creel_captures_waiting')) > 0) await sleep(20);
});
afterAll(() => app.server.stop());

interface Flood {
  readonly socket: Socket;
  /** Responses so far. */
  answers: number;
}

/** Opens a connection whose responses are counted and discarded. */
async function openFlood(port = app.server.port): Promise<Flood> {
  const socket = connect({ port, host: '127.0.0.1' });
  await new Promise((resolve) => socket.once('connect', resolve));
  const flood: Flood = { socket, answers: 0 };
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    for (let at = bytes.indexOf(STATUS_LINE); at >= 0; at = bytes.indexOf(STATUS_LINE, at + 1)) flood.answers += 1;
  });
  floods.push(flood);
  return flood;
}

const get = (path: string): Buffer => rawRequest([`GET ${path} HTTP/1.1`, 'Host: h']);
const many = (path: string, count = COUNT): Buffer => Buffer.alloc(get(path).length * count, get(path));

test.each([
  ['an unknown endpoint', () => '/h/x'],
  ['an endpoint', () => app.base],
  ['an unknown call', () => '/api/x'],
  ['a call', () => '/api/user'],
  ['the page', () => '/'],
])('20,000 requests ahead for %s: another connection is answered in between', async (_what, path) => {
  const answersBeforeOther = async (): Promise<number> => {
    const flood = await openFlood();
    const other = await openRaw({ port: app.server.port });
    flood.socket.write(many(path()));
    await expect.poll(() => flood.answers, { interval: 1 }).toBeGreaterThan(0);
    await other.send(get('/healthz'));
    expect((await other.final()).status).toBe(200);
    other.close();
    return flood.answers;
  };
  // Repeated, because a busy machine may run this process only when both have their answers.
  await expect.poll(answersBeforeOther).toBeLessThan(COUNT / 4);
});

test('20,000 captures ahead on one connection do not fill the queue for a neighbor', async () => {
  const { uid } = await app.owner.createEndpoint();
  const capture = get(`/h/${uid}`);
  expect((await exchange({ port: app.server.port }, capture)).status).toBe(200);
  const flood = await openFlood();
  flood.socket.write(many(app.base));
  const statuses = new Set<number>();
  for (let sent = 0; sent < 50; sent += 1) statuses.add((await exchange({ port: app.server.port }, capture)).status);
  expect([...statuses]).toEqual([200]);
});

test('every request of a flood is answered when its sender waits', async () => {
  using connection = await openRaw({ port: app.server.port });
  await connection.send(many('/h/x', 5000));
  // One wait for each answer, because a busy machine needs longer for all of them than one wait takes.
  for (let nth = 0; nth < 5000; nth += 1) expect((await connection.final()).status).toBe(404);
  await expectUnharmed(app);
});

test.each([
  ['an unknown endpoint', '/h/x'],
  ['an unknown call', '/api/x'],
])('20 connections with 3,000 requests for %s ahead, answers not read: memory stays bounded', async (_what, path) => {
  // A separate server, because memory that other tests have used would hide what this one uses.
  const fresh = await startServerProcess();
  const before = await fresh.residentBytes();
  const bytes = many(path, 3000);
  for (let opened = 0; opened < 20; opened += 1) {
    const { socket } = await openFlood(fresh.port);
    socket.pause();
    socket.write(bytes);
  }
  let peak = 0;
  for (let asked = 0; asked < 20; asked += 1) {
    expect((await exchange({ port: fresh.port }, get('/healthz'))).status).toBe(200);
    peak = Math.max(peak, await fresh.residentBytes());
    await sleep(20);
  }
  await fresh.stop();
  expect(peak - before).toBeLessThan(100 * MIB);
});
