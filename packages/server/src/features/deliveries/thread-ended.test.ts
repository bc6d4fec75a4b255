import { afterAll, expect, test } from 'vitest';
import { startTestServer } from '../../../test/test-server.ts';
import { ThreadEnded } from '../replay/service.ts';
import type { SendRequest } from '../replay/send-request.ts';

let sent = 0;
const sendRequest: SendRequest = async () => {
  sent += 1;
  if (sent === 1) throw new ThreadEnded(undefined);
  return { status: 200, statusText: 'OK', headers: [], body: Buffer.alloc(0), isCut: false, durationMs: 1 };
};

const server = await startTestServer({ replay: { sendRequest } });
afterAll(() => server.stop());

test('a delivery whose thread ended is sent again at once, and the destination is not blamed', async () => {
  const { client } = await server.register();
  const { uid } = await client.call('createEndpoint', { body: {} });
  await client.call('createDestination', { params: { uid }, body: { url: 'http://127.0.0.1:9/' } });
  await client.send(`/h/${uid}`, { method: 'POST', body: 'sent twice' });
  const pending = async () => (await client.call('listDestinations', { params: { uid } }))[0];
  await expect.poll(pending).toMatchObject({ pending: 0, recentStatuses: [200] });
  const history = await client.call('listDeliveries', { params: { uid, id: '-1000000' } });
  expect(history).toMatchObject([{ attempt: 1, status: 200 }]);
  expect(sent).toBe(2);
});
