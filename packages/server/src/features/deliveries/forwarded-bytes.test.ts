import { endToEndHeaders } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { exchange, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { webhookFixtures } from '../../../../../fixtures/webhooks/all.ts';
import { headersFor, toRawHttp } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { openRawTarget } from '../../../test/raw-target.ts';
import { RECEIVERS } from '../../../test/receivers.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { renewSignature } from '../signatures/service.ts';

/** Webhooks of real senders reach a destination as they were sent. HTTP and deliveries add some headers. */

const server = await startTestServer();
const { client, uid } = await server.registerOwner();
const target = await openRawTarget();
await client.call('createDestination', { params: { uid }, body: { url: `${target.url}/base`, appendPath: true } });
afterAll(() => Promise.all([server.stop(), target.close()]));

test.each(webhookFixtures.map((fixture) => [fixture.name, fixture] as const))('%s', async (_, fixture) => {
  const captureUrl = `${server.origin}/h/${uid}`;
  const nth = target.count();
  await exchange({ port: server.port }, toRawHttp(fixture, captureUrl));
  await expect.poll(() => target.received[nth]?.includes(fixture.body)).toBe(true);
  const bytes = target.received[nth] ?? Buffer.alloc(0);
  const end = bytes.indexOf('\r\n\r\n');
  const [requestLine, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  expect(requestLine).toBe(`${fixture.method} /base${fixture.path} HTTP/1.1`);
  const kept = endToEndHeaders(headersFor(fixture, captureUrl));
  expect(lines).toEqual([
    `Host: 127.0.0.1:${target.port}`,
    ...kept.map(([name, value]) => `${name}: ${value}`),
    expect.stringMatching(/^Creel-Delivery: dlv_[0-9a-f]{12}[\w-]{22}$/),
    'Creel-Attempt: 1',
    expect.stringMatching(/^Creel-Via: [\w-]{22}$/),
    `Content-Length: ${fixture.body.length}`,
    'Connection: close',
  ]);
  expect(bytes.subarray(end + 4).equals(fixture.body)).toBe(true);
});

describe.each(RECEIVERS)('a receiver with the library of $scheme', ({ fixture, scheme, secret, receive }) => {
  const headers = headersFor(fixture, 'http://127.0.0.1/h/x');
  const edited = Buffer.from(fixture.body.toString().replace('{', '{"edited":"yes",'));

  /** Captures a request, and returns it as the destination received it. */
  async function forwarded(name: string, sent: RawHeaders, body: Buffer): Promise<[RawHeaders, Buffer]> {
    const nth = target.count();
    const own = /^(host|content-length|transfer-encoding|connection|expect)$/i;
    const lines = sent.filter(([header]) => !own.test(header)).map((header) => header.join(': '));
    const head = [`POST /h/${name} HTTP/1.1`, 'Host: a.example', ...lines, `Content-Length: ${body.length}`];
    await exchange({ port: server.port }, rawRequest(head, body));
    await expect.poll(() => target.received[nth]?.includes(body)).toBe(true);
    const bytes = target.received[nth] ?? Buffer.alloc(0);
    const end = bytes.indexOf('\r\n\r\n');
    const [, ...received] = bytes.subarray(0, end).toString('latin1').split('\r\n');
    return [
      received.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      bytes.subarray(end + 4),
    ];
  }

  test('accepts a forwarded request', async () => {
    const signed = await renewSignature({ scheme, secret }, { headers, body: fixture.body, now: Date.now() });
    const arrived = await forwarded(uid, signed, fixture.body);
    expect(await receive(secret, ...arrived)).toBe(true);
    expect(await receive(`${secret}BBBB`, ...arrived)).toBe(false);
  });

  test('accepts an edited request that was signed again, and rejects one that was not', async () => {
    expect(await receive(secret, ...(await forwarded(uid, headers, edited)))).toBe(false);
    const person = await server.register();
    const signing = await person.client.call('createEndpoint', { body: {} });
    const params = { uid: signing.uid };
    await person.client.call('setSigningSecret', { params, body: { scheme, secret } });
    await person.client.call('createDestination', { params, body: { url: target.url, sign: true } });
    expect(await receive(secret, ...(await forwarded(signing.uid, headers, edited)))).toBe(true);
  });
});
