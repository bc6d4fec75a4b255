import { expect, test, vi } from 'vitest';
import { openRaw } from '../../../../fixtures/raw-http.ts';
import { startTestServer } from '../../test/test-server.ts';

test('calls that were given up before the lookup of their session read and change nothing', async () => {
  await using server = await startTestServer();
  const [{ client, uid }, other] = [await server.registerOwner(), await server.registerOwner()];
  const released = Promise.withResolvers<void>();
  const { findSession } = server.store;
  const lookups = vi.spyOn(server.store, 'findSession');
  await client.call('getUser', {});
  const own = lookups.mock.lastCall?.[0];
  lookups.mockClear().mockImplementation(async (hash, now) => {
    if (hash === own) await released.promise;
    return findSession(hash, now);
  });
  const changes = vi.spyOn(server.store, 'changeEndpoint');
  const callers = await Promise.all(Array.from({ length: 20 }, () => openRaw({ port: server.port })));
  const body = '{"name":"given up"}';
  const head = `Host: creel\r\nCookie: ${client.jar.header()}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  for (const caller of callers) await caller.send(`PATCH /api/endpoints/${uid} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  await expect.poll(() => lookups.mock.calls.length).toBe(6);
  for (const caller of callers) caller.reset();
  const rename = { params: { uid: other.uid }, body: { name: 'other' } };
  expect(await other.client.call('changeEndpoint', rename)).toMatchObject({ name: 'other' });
  released.resolve();
  expect(await client.call('changeEndpoint', { params: { uid }, body: { name: 'last' } })).toMatchObject({
    name: 'last',
  });
  expect(lookups.mock.calls.filter(([hash]) => hash === own)).toHaveLength(6 + 1);
  expect(changes.mock.calls.length).toBeLessThanOrEqual(6 + 2);
});

test('a call that waits until the silence ends connections is answered with a 503; one in progress is answered later', async () => {
  await using server = await startTestServer({ timeouts: { silenceMs: 2000 } });
  const { client } = await server.registerOwner();
  const released = Promise.withResolvers<void>();
  const { findSession } = server.store;
  const lookups = vi.spyOn(server.store, 'findSession').mockImplementation(async (hash, now) => {
    await released.promise;
    return findSession(hash, now);
  });
  const head = `GET /api/user HTTP/1.1\r\nHost: creel\r\nCookie: ${client.jar.header()}\r\n\r\n`;
  const callers = await Promise.all(Array.from({ length: 6 }, () => openRaw({ port: server.port })));
  for (const caller of callers) await caller.send(head);
  await expect.poll(() => lookups.mock.calls.length).toBe(6);
  using waiting = await openRaw({ port: server.port });
  await waiting.send(head);
  const refusal = await waiting.final();
  expect([refusal.status, refusal.header('retry-after')]).toEqual([503, '1']);
  released.resolve();
  for (const caller of callers) expect((await caller.final()).status).toBe(200);
});
