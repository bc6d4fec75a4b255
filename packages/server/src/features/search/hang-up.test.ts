import { expect, test, vi } from 'vitest';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../../fixtures/raw-http.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { captureMany } from '../../../test/user-actions.ts';

/** Scans of a search over two endpoints, during whose first scan `leave` was called, and of a whole search after it. */
async function scansAfter(leave: (caller: RawConnection) => void) {
  const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM' } });
  const { client } = await server.register();
  // A step searches one endpoint.
  for (let endpoint = 0; endpoint < 2; endpoint += 1) {
    const { uid } = await client.call('createEndpoint', { body: {} });
    await captureMany(client, uid, { count: 1 });
  }
  const [began, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const scans = vi.spyOn(server.store, 'scanRequests').mockImplementationOnce(async () => {
    began.resolve();
    await released.promise;
    return { found: [], searched: 1, bytes: 0, next: undefined };
  });
  const caller = await openRaw({ port: server.port });
  await caller.send(`GET /api/search?q=x HTTP/1.1\r\nHost: creel\r\nCookie: ${client.jar.header()}\r\n\r\n`);
  await began.promise;
  leave(caller);
  // The server has read the end of the connection before it answers the second of these calls.
  for (let call = 0; call < 2; call += 1) await client.call('listEndpoints', {});
  released.resolve();
  // Searches of one user run one after another, so the first one is over.
  await client.call('search', { query: { q: 'x' } });
  return { scans, caller, stop: server.stop };
}

test('a search ends with its step when its client leaves', async () => {
  const { scans, stop } = await scansAfter((caller) => caller.reset());
  expect(scans).toHaveBeenCalledTimes(1 + 2);
  await stop();
});

test('a search is answered after its client has closed only its sending side', async () => {
  const { scans, caller, stop } = await scansAfter((connection) => connection.halfClose());
  expect((await caller.final()).status).toBe(200);
  expect(scans).toHaveBeenCalledTimes(2 + 2);
  await stop();
});
