import { endToEndHeaders } from '@creel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchange } from '../../../../../fixtures/raw-http.ts';
import { webhookFixtures } from '../../../../../fixtures/webhooks/all.ts';
import { headersFor, toRawHttp } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { openRawTarget } from '../../../test/raw-target.ts';
import type { RawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

/** Webhooks of real senders reach a destination as they were sent, but for what HTTP and deliveries add. */
let server: TestServer;
let client: TestClient;
let target: RawTarget;
let uid: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ client } = await server.register());
  ({ uid } = await client.call('createEndpoint', { body: {} }));
  target = await openRawTarget();
  await client.call('createDestination', { params: { uid }, body: { url: `${target.url}/base`, appendPath: true } });
});
afterAll(() => Promise.all([server.stop(), target.close()]));

test.each(webhookFixtures.map((fixture) => [fixture.name, fixture] as const))('%s', async (_, fixture) => {
  const captureUrl = `${server.origin}/h/${uid}`;
  const nth = target.count();
  await exchange({ port: server.port }, toRawHttp(fixture, captureUrl));
  await expect.poll(() => target.received[nth]?.includes(fixture.body), { timeout: 30_000 }).toBe(true);
  const bytes = target.received[nth] ?? Buffer.alloc(0);
  const end = bytes.indexOf('\r\n\r\n');
  const [requestLine, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  expect(requestLine).toBe(`${fixture.method} /base${fixture.path} HTTP/1.1`);
  const kept = endToEndHeaders(headersFor(fixture, captureUrl).map(([name, value]) => [name, value]));
  expect(lines).toEqual([
    `Host: 127.0.0.1:${target.port}`,
    ...kept.map(([name, value]) => `${name}: ${value}`),
    expect.stringMatching(/^Creel-Delivery: dlv_[\w-]{22}$/),
    'Creel-Attempt: 1',
    expect.stringMatching(/^Creel-Via: [\w-]{22}$/),
    `Content-Length: ${fixture.body.length}`,
    'Connection: close',
  ]);
  expect(bytes.subarray(end + 4).equals(fixture.body)).toBe(true);
});
