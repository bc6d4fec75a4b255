import { afterAll, expect, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLive } from '../../../test/live-viewer.ts';
import { metricOf } from '../../../test/metric.ts';
import { upgradeRaw } from '../../../test/raw-upgrade.ts';
import { startTestServer } from '../../../test/test-server.ts';

/** Dead peers are detected, and live ones are kept (docs/api.md, "Live"). */
const PING_MS = 400;
const server = await startTestServer({ livePingMs: PING_MS });
const { client, uid } = await server.registerOwner();
afterAll(() => server.stop());

/** The server's number of viewers. */
const viewers = () => metricOf(server.origin, 'creel_live_viewers');

test('a peer that does not answer pings is dropped after two of them', async () => {
  const { answer, connection } = await upgradeRaw(server.port, `/ws?endpoint=${uid}`, {
    cookie: client.jar.header(),
  });
  expect(answer.status).toBe(101);
  expect(await viewers()).toBe(1);
  const received = await connection.closed();
  // 0x89 0x00: a ping without a payload.
  expect(received.includes(Buffer.of(0x89, 0x00))).toBe(true);
  expect(await viewers()).toBe(0);
});

test('a peer that has stopped reading is dropped too, also while data is sent to it', async () => {
  const { connection } = await upgradeRaw(server.port, `/ws?endpoint=${uid}`, { cookie: client.jar.header() });
  connection.pause();
  for (let count = 0; count < 200; count += 1) {
    await (await fetch(`${server.origin}/h/${uid}`, { method: 'POST', body: 'x'.repeat(16_000) })).arrayBuffer();
  }
  while ((await viewers()) > 0) await sleep(20);
  connection.resume();
  expect((await connection.closed()).length).toBeGreaterThan(0);
});

test('a peer that answers stays', async () => {
  await using viewer = await openLive(client, uid);
  let pings = 0;
  viewer.socket.on('ping', () => (pings += 1));
  while (pings < 4 && viewer.socket.readyState === viewer.socket.OPEN) await sleep(20);
  expect(viewer.socket.readyState).toBe(viewer.socket.OPEN);
  expect(await viewers()).toBe(1);
});
