import { createHmac } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Stripe } from 'stripe';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import { startTarget } from '../../../../../fixtures/target-server.ts';
import { storedRows } from '../../../test/database-sum.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { encodeHead } from '../../database/stored-request.ts';
import { Signatures } from './service.ts';

const SECRET = 'whsec_canary0123456789';
const EVENT = '{"id":"evt_1","livemode":false,"amount":1.50}';
const stripe = new Stripe('sk_test_unused');

let client: TestClient;
let uid: string;

const server = await startTestServer({ settings: { LOG_LEVEL: 'trace', DEFAULT_TIER: 'PREMIUM' } });
const target = await startTarget();
afterAll(async () => {
  await target.close();
  await server.stop();
});
beforeEach(async () => {
  ({ client, uid } = await server.registerOwner());
});

const setSecret = (secret = SECRET) =>
  client.call('setSigningSecret', { params: { uid }, body: { scheme: 'stripe', secret } });

/** Sends an event that Stripe signed `age` seconds ago, and returns its id. */
async function captureEvent(age = 0, body = EVENT): Promise<number> {
  const timestamp = Math.floor(server.clock.now() / 1000) - age;
  const signature = stripe.webhooks.generateTestHeaderString({ payload: EVENT, secret: SECRET, timestamp });
  await client.send(`/h/${uid}`, { method: 'POST', body, headers: { 'stripe-signature': signature } });
  const [captured] = await client.call('listUnsaved', { params: { uid } });
  return captured?.id ?? 0;
}

const signatureOf = async (id: number) => (await client.call('getRequest', { params: { uid, id } })).signature;
const replay = (json: object, from = client) =>
  from.answerTo('/api/replay', {
    method: 'POST',
    json: { method: 'POST', url: `${target.url}/hooks`, headers: [], ...json },
  });

test('the endpoint says its scheme, and a request says whether its signature is valid', async () => {
  const id = await captureEvent();
  expect(await signatureOf(id)).toBeNull();
  await setSecret();
  expect(await signatureOf(id)).toEqual({ scheme: 'stripe', verdict: 'valid', reason: null });
  expect(await client.call('getEndpoint', { params: { uid } })).toMatchObject({ signing: { scheme: 'stripe' } });
  expect(await client.call('listEndpoints', {})).toMatchObject([{ signing: { scheme: 'stripe' } }]);
  expect(await signatureOf(await captureEvent(720))).toMatchObject({
    verdict: 'invalid',
    // The second may end between the signing and the capture.
    reason: expect.stringMatching(/timestamp is 12 minutes(?: and \d+ seconds?)? older/),
  });
  expect(await signatureOf(await captureEvent(0, JSON.stringify(JSON.parse(EVENT), null, 2)))).toMatchObject({
    verdict: 'invalid',
    reason: expect.stringContaining('does not match'),
  });
  await setSecret(`${SECRET}\n`);
  expect(await signatureOf(id)).toMatchObject({ reason: expect.stringContaining('line break at its end') });
  const { status } = await client.answerTo(`/api/endpoints/${uid}/signing-secret`, { method: 'DELETE' });
  expect([status, await signatureOf(id)]).toEqual([204, null]);
  expect(await client.call('getEndpoint', { params: { uid } })).toMatchObject({ signing: null });
});

test('the verdict stays while the request grows old', async () => {
  await setSecret();
  const id = await captureEvent();
  server.clock.advance(3_600_000);
  expect(await signatureOf(id)).toMatchObject({ verdict: 'valid' });
});

test.each<[object, string, string]>([
  [{ secret: 'x' }, 'scheme', 'Choose a scheme'],
  [{ scheme: 'rsa', secret: 'x' }, 'scheme', 'Choose a scheme'],
  [{ scheme: 'stripe' }, 'secret', 'Please enter the secret'],
  [{ scheme: 'stripe', secret: '' }, 'secret', 'Please enter the secret'],
  [{ scheme: 'stripe', secret: 'x'.repeat(4097) }, 'secret', 'at most 4096'],
  [{ scheme: 'hmac-sha256', secret: 'x' }, 'header', 'needs the name of the header'],
  [{ scheme: 'hmac-sha256', secret: 'x', header: 'a b' }, 'header', 'name of a header'],
  [{ scheme: 'hmac-sha256', secret: 'x', header: 'a', encoding: 'base32' }, 'encoding', 'hex or base64'],
  [{ scheme: 'hmac-sha256', secret: 'x', header: 'a', prefix: 'a\n' }, 'prefix', 'prefix'],
])('rejects %j', async (json, field, sentence) => {
  const path = `/api/endpoints/${uid}/signing-secret`;
  expect(await client.answerTo(path, { method: 'PUT', json })).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_FAILED', fields: { [field]: expect.stringContaining(sentence) } },
  });
});

test('a replay with sign carries a signature that Stripe accepts now, over the edited body', async () => {
  await setSecret();
  const id = await captureEvent(100_000);
  const { rawHeaders } = await client.call('getRequest', { params: { uid, id } });
  const headers = rawHeaders.map(([key, value]) => ({ key, value }));
  const edited = EVENT.replace('1.50', '99.00');
  for (const body of [{ body: edited, of: { endpointUid: uid, id } }, { bodyFrom: { endpointUid: uid, id } }]) {
    expect(await replay({ headers, sign: true, ...body })).toMatchObject({ status: 200 });
    const arrived = target.received.at(-1);
    const signature = arrived?.headers.find(([name]) => name.toLowerCase() === 'stripe-signature')?.[1] ?? '';
    expect(arrived?.body.toString()).toBe('body' in body ? edited : EVENT);
    expect(() => stripe.webhooks.constructEvent(arrived?.body ?? '', signature, SECRET)).not.toThrow();
  }
  await replay({ headers, body: edited, of: { endpointUid: uid, id } });
  expect(target.received.at(-1)?.headers.map(([, value]) => value)).toContain(
    rawHeaders.find(([name]) => name === 'stripe-signature')?.[1],
  );
});

test('signing without a secret or a request is 400, and for the request of another user 404', async () => {
  const of = { endpointUid: uid, id: await captureEvent() };
  const sent = target.received.length;
  const bad = (sign: string) => ({ status: 400, body: { code: 'VALIDATION_FAILED', fields: { sign } } });
  expect(await replay({ sign: true, of })).toMatchObject(bad('This endpoint has no signing secret. Set one first.'));
  await setSecret();
  expect(await replay({ sign: true })).toMatchObject(bad('To sign, name the captured request with of or bodyFrom.'));
  const other = (await server.register()).client;
  for (const source of [{ of }, { of, sign: true }, { bodyFrom: of, sign: true }])
    expect(await replay(source, other)).toMatchObject({ status: 404 });
  expect(target.received.length).toBe(sent);
});

test('the secret is in no answer, no export, no log line and no stored row or file', async () => {
  await setSecret();
  await captureEvent();
  const paths = ['/api/endpoints', `/api/endpoints/${uid}`, `/api/endpoints/${uid}/temp-requests`, '/api/export'];
  const answers = await Promise.all(paths.map(async (path) => (await client.send(path)).text()));
  const files = await readdir(server.dataDir);
  const inFiles = await Promise.all(files.map((file) => readFile(join(server.dataDir, file), 'latin1')));
  const stored = [...inFiles, ...(await storedRows(server.storage))];
  expect(stored.join('')).toContain(uid);
  const everything = [server.log(), ...answers, ...stored].join('\n');
  const hidden = ['canary0123456789', Buffer.from(SECRET).toString('base64').slice(4, 24)];
  expect(hidden.filter((text) => everything.includes(text))).toEqual([]);
});

test('the secret of a deleted endpoint is deleted, and a sealed secret does not open for another endpoint', async () => {
  await setSecret();
  const endpoint = await server.store.findEndpoint(uid);
  const sealed = await server.store.findSigningSecret(endpoint?.id ?? 0);
  const other = await client.call('createEndpoint', { body: {} });
  await server.store.setSigningSecret(other.id, 'stripe', sealed ?? '');
  await client.send(`/h/${other.uid}`, { method: 'POST', body: EVENT });
  const { signature } = await client.call('getRequest', { params: { uid: other.uid, id: -1_000_000 } });
  expect(signature).toBeNull();
  await client.call('deleteEndpoint', { params: { uid } });
  expect(sealed).toBeTypeOf('string');
  expect(await server.store.findSigningSecret(endpoint?.id ?? 0)).toBeUndefined();
});

test('a body of many megabytes is verified in slices', async () => {
  const body = Buffer.alloc(9_000_001, 'ä');
  const signature = createHmac('sha256', 'shhh').update(body).digest('base64');
  const json = { scheme: 'hmac-sha256', secret: 'shhh', header: 'x-sign', encoding: 'base64' } as const;
  await client.call('setSigningSecret', { params: { uid }, body: json });
  await client.send(`/h/${uid}`, { method: 'POST', body, headers: { 'X-Sign': signature } });
  expect(await signatureOf(-1_000_000)).toMatchObject({ verdict: 'valid' });
});

test('a request that is saved before its mismatch is explained gets the explanation', async () => {
  await setSecret();
  const id = await captureEvent(0, EVENT.replace(',', ', '));
  const before = await signatureOf(id);
  const { explainStored } = server.store;
  const explanations = vi.spyOn(server.store, 'explainStored').mockImplementationOnce(async (...args) => {
    await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
    return explainStored(...args);
  });
  onTestFinished(() => explanations.mockRestore());
  expect(await signatureOf(id)).toEqual(before);
  expect(explanations).toHaveBeenCalledOnce();
});

test('clients that close only their sending side wait for explanations', async () => {
  await setSecret();
  const id = await captureEvent(0, JSON.stringify({ items: Array.from({ length: 10_000 }, (_, nth) => ({ nth })) }));
  const connections = await Promise.all(Array.from({ length: 12 }, () => openRaw({ port: server.port })));
  const lines = [`GET /api/endpoints/${uid}/requests/${id} HTTP/1.1`, 'Host: h', `Cookie: ${client.jar.header()}`];
  await Promise.all(connections.map(({ send }) => send(`${lines.join('\r\n')}\r\n\r\n`)));
  const answers = connections.map(async ({ final }) => {
    const { status, body } = await final();
    return [status, body.toString().includes('"verdict":"invalid"')];
  });
  await Promise.race(answers);
  for (const connection of connections) connection.halfClose();
  expect(await Promise.all(answers)).toEqual(connections.map(() => [200, true]));
});

test("one user's mismatches are explained one at a time for clients that wait, and others' do not wait for them", async () => {
  let sealed: string | undefined;
  const begun: number[] = [];
  const explained = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
  const queries = {
    findSigningSecret: async () => sealed,
    findAnySigningSecret: async () => undefined,
    setSigningSecret: async (_id: number, _scheme: string, text: string) => (sealed = text) !== '',
    deleteSigningSecret: async () => undefined,
    async explainStored(endpointId: number): Promise<string | undefined> {
      begun.push(endpointId);
      return explained[begun.length - 1]?.promise;
    },
  };
  const signatures = new Signatures(queries, 'master secret', Date.now);
  await signatures.setSecret(1, { scheme: 'github', secret: SECRET });
  const head = Buffer.from(encodeHead('/', '192.0.2.1', true, ['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`]));
  const record = { index: 0, savedId: null, method: 'POST', receivedAt: Date.now(), head, body: null, size: 0 };
  const left = new AbortController();
  const verify = (userId: number, { signal } = new AbortController()) =>
    signatures.verify({ id: 1, userId, signingScheme: 'github' }, { ...record, endpointId: 1 }, signal);
  const verified = [verify(1), verify(1), verify(2)];
  const abandoned = verify(1, left);
  await setImmediate();
  expect(begun).toHaveLength(2);
  left.abort(new Error('left'));
  await expect(abandoned).rejects.toThrow('left');
  explained.forEach(({ resolve }, nth) => resolve(`reason ${nth}`));
  const reasons = (await Promise.all(verified)).map((signature) => signature?.reason);
  expect(reasons).toEqual(['reason 0', 'reason 2', 'reason 1']);
  expect(begun).toHaveLength(3);
});
