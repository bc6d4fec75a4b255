import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('sign', async () => {
  const { client } = await server.register();
  const { uid, signing } = await client.call('createEndpoint', { body: {} });
  expect(signing).toBeNull();
  await client.call('setSigningSecret', { params: { uid }, body: { scheme: 'github', secret: 'It is a secret' } });
  expect(await client.call('getEndpoint', { params: { uid } })).toMatchObject({ signing: { scheme: 'github' } });
  const body = '{"a": 1}';
  const signature = createHmac('sha256', 'It is a secret').update(body).digest('hex');
  await client.send(`/h/${uid}`, { method: 'POST', body, headers: { 'x-hub-signature-256': `sha256=${signature}` } });
  const one = await client.call('getRequest', { params: { uid, id: -1_000_000 } });
  expect(one.signature).toEqual({ scheme: 'github', verdict: 'valid', reason: null });
});
