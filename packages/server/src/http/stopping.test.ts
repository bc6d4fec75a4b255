import { afterEach, expect, test } from 'vitest';
import { openRaw, rawRequest } from '../../../../fixtures/raw-http.ts';
import { startTestServer } from '../../test/test-server.ts';
import type { TestServer } from '../../test/test-server.ts';
import { openLive } from '../../test/live-viewer.ts';

let server: TestServer;
afterEach(() => server.stop());

/** While a server drains, the test has time for its requests, however busy the machine is. */
const DRAIN_MS = 5000;

test('after a stop, requests on open connections are answered and close them, and live sockets get 1001', async () => {
  server = await startTestServer({ drainMs: DRAIN_MS });
  const { client, uid } = await server.registerOwner();
  const host = `Host: 127.0.0.1:${server.port}`;
  const target = { port: server.port };
  const capture = rawRequest([`POST /h/${uid} HTTP/1.1`, host, 'Content-Length: 4'], 'body');
  const [plain, parsed, idle] = [await openRaw(target), await openRaw(target), await openRaw(target)];
  const halves = [await openRaw(target), await openRaw(target), await openRaw(target)];
  for (const connection of [plain, idle]) {
    await connection.send(capture);
    expect((await connection.final()).header('connection')).toBe('keep-alive');
  }
  await parsed.send(rawRequest(['GET /healthz HTTP/1.1', host]));
  expect((await parsed.final()).header('connection')).toBe('keep-alive');
  const whole = [
    rawRequest([`POST /h/${uid} HTTP/1.1`, host, 'Content-Length: 4'], 'body'),
    rawRequest([`POST /h/${uid} HTTP/1.1`, host, 'Transfer-Encoding: chunked'], '4\r\nbody\r\n0\r\n\r\n'),
    rawRequest(['POST /api/logout HTTP/1.1', host, 'Content-Type: application/json', 'Content-Length: 2'], '{}'),
  ];
  for (const [at, half] of halves.entries()) await half.send((whole[at] ?? capture).subarray(0, -1));
  const live = await openLive(client, uid);
  const stopped = server.stop();
  expect(await live.closed).toBe(1001);

  await plain.send(capture);
  const last = await plain.final();
  expect([last.status, last.header('x-creel-request'), last.header('connection')]).toEqual([200, '2', 'close']);
  await parsed.send(rawRequest(['GET /readyz HTTP/1.1', host]));
  const ready = await parsed.final();
  expect([ready.status, ready.header('connection')]).toEqual([503, 'close']);
  // The server had read a part of these before the stop.
  for (const [at, half] of halves.entries()) {
    await half.send((whole[at] ?? capture).subarray(-1));
    const answer = await half.final();
    expect([answer.status, answer.header('connection')]).toEqual([at === 2 ? 204 : 200, 'close']);
  }
  // Until the listener closes, a balancer may still send requests on new connections.
  const late = await openRaw(target);
  await late.send(capture);
  expect((await late.final()).header('connection')).toBe('close');
  for (const connection of [plain, parsed, idle, late, ...halves]) {
    expect((await connection.closed()).length).toBe(0);
    connection.close();
  }
  await stopped;
});
