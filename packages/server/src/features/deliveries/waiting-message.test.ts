import { unsavedId } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import { afterAll, expect, test } from 'vitest';
import { openLive } from '../../../test/live-viewer.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { StorageUnavailable } from '../../database/store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';

/** The first read of states is answered late: after the attempt that it does not contain was sent to viewers. */
const isRead = Promise.withResolvers<void>();
const isAttempted = Promise.withResolvers<void>();
/** A target that does not answer before the end of the tests. */
const SILENT = 'http://silent.example/';
const isOver = Promise.withResolvers<void>();
let failsNext = false;

const server = await startTestServer({
  openStore: async (dataDir) => {
    const store = await openSqliteStore(dataDir, QUERIES);
    const listDeliveryStates: AppStore['listDeliveryStates'] = async (endpointId, indexes) => {
      if (failsNext) {
        failsNext = false;
        throw new StorageUnavailable('The connection was lost.');
      }
      const states = await store.listDeliveryStates(endpointId, indexes);
      isRead.resolve();
      await isAttempted.promise;
      return states;
    };
    return { ...store, listDeliveryStates };
  },
  replay: {
    lookUp: () => Promise.resolve(['8.8.8.8']),
    sendRequest: async ({ url }) => {
      await (url === SILENT ? isOver.promise : isRead.promise);
      const head = { status: 200, statusText: 'OK', headers: [] };
      return { ...head, body: Buffer.from('answer'), isCut: false, durationMs: 1 };
    },
  },
});
afterAll(async () => {
  isRead.resolve();
  isAttempted.resolve();
  isOver.resolve();
  await server.stop();
});

test('the message about a waiting capture never follows the one about its attempt', async () => {
  const { client, uid } = await server.registerOwner();
  await client.call('createDestination', { params: { uid }, body: { url: 'http://slow.example/' } });
  await using viewer = await openLive(client, uid);
  await viewer.until((messages) => messages.length > 0);
  await client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
  const ofFirst = (message: LiveMessage) => (message.type === 'delivery' && message.data.index === 0 ? [message] : []);
  await viewer.until((messages) => messages.flatMap(ofFirst).length > 0);
  isAttempted.resolve();
  await client.send(`/h/${uid}`, { method: 'POST', body: 'y' });
  await viewer.until((messages) => messages.some((message) => message.type === 'delivery' && message.data.index === 1));
  const request = await client.call('getRequest', { params: { uid, id: unsavedId(0) } });
  expect(request).toMatchObject({ deliveryPending: false, lastDelivery: { status: 200 } });
  const { lastDelivery, deliveryPending } = request;
  expect(viewer.messages.flatMap(ofFirst).at(-1)).toMatchObject({ data: { lastDelivery, deliveryPending } });
});

test('viewers learn that a capture waits, although the first read of its state failed', async () => {
  const { client, uid } = await server.registerOwner();
  await client.call('createDestination', { params: { uid }, body: { url: SILENT } });
  await using viewer = await openLive(client, uid);
  await viewer.until((messages) => messages.length > 0);
  failsNext = true;
  await client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
  await viewer.until((messages) => messages.some(({ type }) => type === 'delivery'));
  expect(failsNext).toBe(false);
  expect(viewer.messages.find(({ type }) => type === 'delivery')).toMatchObject({
    data: { index: 0, deliveryPending: true },
  });
});
