import { expect, test, vi } from 'vitest';
import { openRaw } from '../../../../fixtures/raw-http.ts';
import { startTestServer } from '../../test/test-server.ts';
import { captureMany } from '../../test/user-actions.ts';

test('reads of calls that were given up do not wait before the reads of others', async () => {
  await using server = await startTestServer();
  const { client, uid, endpointId } = await server.registerOwner();
  await captureMany(client, uid, { count: 1 });
  const released = Promise.withResolvers<void>();
  const { listRequests } = server.store;
  const reads = vi.spyOn(server.store, 'listRequests').mockImplementation(async (page) => {
    if (page.endpointId === endpointId) await released.promise;
    return listRequests(page);
  });
  const path = `/api/endpoints/${uid}/temp-requests`;
  const callers = await Promise.all(Array.from({ length: 6 }, () => openRaw({ port: server.port })));
  for (const caller of callers)
    await caller.send(`GET ${path} HTTP/1.1\r\nHost: creel\r\nCookie: ${client.jar.header()}\r\n\r\n`);
  await expect.poll(() => reads.mock.calls.length).toBe(2);
  for (const caller of callers) caller.reset();
  const other = await server.registerOwner();
  expect(await other.client.call('listUnsaved', { params: { uid: other.uid } })).toEqual([]);
  released.resolve();
  expect(await client.call('listUnsaved', { params: { uid } })).toHaveLength(1);
  expect(reads).toHaveBeenCalledTimes(2 + 2);
});

test('changes of one user take turns, and do not delay those of others', async () => {
  await using server = await startTestServer();
  const { client, user } = await server.register();
  const released = Promise.withResolvers<void>();
  const { changeSettings } = server.store;
  const changes = vi.spyOn(server.store, 'changeSettings').mockImplementation(async (id, change) => {
    if (id === user.id) await released.promise;
    return changeSettings(id, change);
  });
  const save = (of: typeof client) => of.call('saveSettings', { body: { autoSaveNewEndpoints: true } });
  const calls = Array.from({ length: 20 }, () => save(client));
  await expect.poll(() => changes.mock.calls.length).toBe(6);
  const other = await server.register();
  expect(await save(other.client)).toMatchObject({ autoSaveNewEndpoints: true });
  expect(changes).toHaveBeenCalledTimes(6 + 1);
  released.resolve();
  await Promise.all(calls);
  expect(changes).toHaveBeenCalledTimes(20 + 1);
});
