import { PROBLEMS, unsavedId } from '@creel/contract';
import type { DeliveryAttempt } from '@creel/contract';
import { afterAll, describe, expect, test } from 'vitest';
import {
  ADDRESS_FORMS,
  FORBIDDEN_URLS,
  INTERNAL_HOSTS,
  INTERNAL_NAMES,
  INTERNAL_NAME_URLS,
  UNUSABLE_URLS,
} from '../../../test/internal-addresses.ts';
import { openRawTarget } from '../../../test/raw-target.ts';
import { standingClock, startTestServer } from '../../../test/test-server.ts';
import { sendRequest } from '../replay/send-request.ts';
import type { SendRequest } from '../replay/send-request.ts';

/** Destinations with two attempts each, of which a request keeps 50. */
const URLS_PER_ENDPOINT = 20;

/** Destinations reach nothing that replays may not reach, at each attempt. */
const names = new Map<string, string[]>();
const hanging = new Map<string, Promise<string[]>>();
const lookUp = (name: string): Promise<string[]> => {
  const hung = hanging.get(name);
  if (hung !== undefined) return hung;
  const addresses = names.get(name);
  return addresses === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(addresses);
};
/** In this thread, so that the test controls DNS. */
const sendHere: SendRequest = (request, aborted) => sendRequest(request, aborted, lookUp);

const server = await startTestServer({
  settings: { ALLOW_PRIVATE_TARGETS: 'false', DEFAULT_TIER: 'PREMIUM' },
  replay: { sendRequest: sendHere, lookUp, maxMs: 3000 },
  clock: standingClock(),
});
const { client, uid } = await server.registerOwner();
const inside = await openRawTarget('127.0.0.1');
const inside6 = await openRawTarget('::1');
afterAll(() => Promise.all([server.stop(), inside.close(), inside6.close()]));

const create = (url: string) =>
  client.answerTo(`/api/endpoints/${uid}/destinations`, { method: 'POST', json: { url } });
const REFUSED = {
  status: 403,
  body: { code: 'TARGET_NOT_ALLOWED', error: PROBLEMS.TARGET_NOT_ALLOWED.sentence },
};
const expectUntouched = (): void => expect([inside.count(), inside6.count()]).toEqual([0, 0]);
const attemptsOf = (index: number): Promise<DeliveryAttempt[]> =>
  client.call('listDeliveries', { params: { uid, id: unsavedId(index) } });

describe('a destination on a public server does not reach internal addresses', () => {
  test.each(INTERNAL_HOSTS)('however its address is written: %s', async (host) => {
    expect(await create(`http://${host}:${inside.port}/`)).toMatchObject(REFUSED);
    expect(await create(`http://${host}:${inside6.port}/`)).toMatchObject(REFUSED);
    expectUntouched();
  });

  test.each(INTERNAL_NAMES)('%s', async (_what, answers) => {
    names.set('inside.example', answers[0] ?? []);
    expect(await create(`http://inside.example:${inside.port}/`)).toMatchObject(REFUSED);
    expectUntouched();
  });

  test.each(FORBIDDEN_URLS)('cloud metadata: %s', async (url) => {
    names.set('metadata.example', ['169.254.169.254']);
    expect(await create(url)).toMatchObject(REFUSED);
  });

  test.each(ADDRESS_FORMS.filter(([, reach]) => reach !== 'public'))('in any form of an address: %s', async (url) => {
    expect(await create(url)).toMatchObject(REFUSED);
  });

  test.each(INTERNAL_NAME_URLS)('by a name: %s', async (url) => {
    names.set(new URL(url).hostname, ['127.0.0.1']);
    expect(await create(url)).toMatchObject(REFUSED);
  });

  test.each(UNUSABLE_URLS)('a URL that no request can be sent to: %s', async (url) => {
    expect(await create(url)).toMatchObject({ status: 400, body: { fields: { url: expect.any(String) } } });
  });

  test.each([22, 25, 6379])('port %i, which belongs to another service', async (port) => {
    names.set('good.example', ['8.8.8.8']);
    expect(await create(`http://good.example:${port}/`)).toMatchObject({ status: 403 });
  });

  test('a URL that was stored without a check, in any form, at any attempt', async () => {
    for (const url of INTERNAL_NAME_URLS) names.set(new URL(url).hostname, ['127.0.0.1']);
    names.set('metadata.example', ['169.254.169.254']);
    INTERNAL_NAMES.forEach(([, answers], nth) => names.set(`inside-${nth}.example`, answers[0] ?? []));
    const urls = [
      ...INTERNAL_HOSTS.flatMap((host) => [inside, inside6].map(({ port }) => `http://${host}:${port}/`)),
      ...INTERNAL_NAMES.map((_name, nth) => `http://inside-${nth}.example:${inside.port}/`),
      ...FORBIDDEN_URLS,
      ...ADDRESS_FORMS.filter(([, reach]) => reach !== 'public').map(([url]) => url),
      ...INTERNAL_NAME_URLS,
      ...UNUSABLE_URLS,
      'http://8.8.8.8:22/',
    ];
    const { client: owner } = await server.register();
    const fields = { appendPath: false, enabled: true, query: '', sign: false };
    for (let at = 0; at < urls.length; at += URLS_PER_ENDPOINT) {
      const own = urls.slice(at, at + URLS_PER_ENDPOINT);
      const endpoint = await owner.call('createEndpoint', { body: {} });
      for (const url of own)
        await server.store.createDestination(endpoint.id, { ...fields, url }, { now: 0, limit: own.length });
      await owner.send(`/h/${endpoint.uid}`, { method: 'POST', body: 'secret' });
      const attempts = () => owner.call('listDeliveries', { params: { uid: endpoint.uid, id: unsavedId(0) } });
      const tried = async (): Promise<number> => (await attempts()).filter(({ attempt }) => attempt > 0).length;
      await expect.poll(tried).toBe(own.length);
      server.clock.advance(10_000);
      await expect.poll(tried).toBe(2 * own.length);
      for (const attempt of await attempts())
        expect(attempt).toMatchObject({ status: null, error: expect.any(String), responseBody: null });
    }
    expectUntouched();
  });

  test('a name that resolves to an internal address later is rejected at each attempt, and counts as a failure', async () => {
    const created = await client.call('createDestination', {
      params: { uid },
      body: { url: `http://later.example:${inside.port}/` },
    });
    names.set('later.example', ['127.0.0.1']);
    const sent = await client.send(`/h/${uid}`, { method: 'POST', body: 'secret' });
    const index = Number(sent.headers.get('x-creel-request'));
    await expect.poll(async () => (await attemptsOf(index)).length).toBe(1);
    names.set('later.example', ['8.8.8.8', '::1']);
    server.clock.advance(10_000);
    await expect.poll(async () => (await attemptsOf(index)).length).toBe(2);
    for (const attempt of await attemptsOf(index))
      expect(attempt).toMatchObject({ status: null, error: REFUSED.body.error, responseBody: null });
    expectUntouched();
    await client.call('deleteDestination', { params: { uid, id: created.id } });
  });

  test('a lookup that hangs delays its own destination only', async () => {
    const { client: owner } = await server.register();
    const { uid: own } = await owner.call('createEndpoint', { body: {} });
    for (const name of ['hanging', 'gone'])
      await owner.call('createDestination', { params: { uid: own }, body: { url: `http://${name}.example/` } });
    const hung = Promise.withResolvers<string[]>();
    hanging.set('hanging.example', hung.promise);
    await owner.send(`/h/${own}`, { method: 'POST', body: 'x' });
    const tried = async (): Promise<string[]> => {
      const attempts = await owner.call('listDeliveries', { params: { uid: own, id: unsavedId(0) } });
      return attempts.flatMap(({ error, url }) => (error === null ? [] : [url])).toSorted();
    };
    await expect.poll(tried).toEqual(['http://gone.example/']);
    hung.resolve([]);
    await expect.poll(tried).toEqual(['http://gone.example/', 'http://hanging.example/']);
  });

  test('a captured header does not change the destination', async () => {
    names.set('outside.example', ['2001:4860:4860::8888']);
    const { id } = await client.call('createDestination', {
      params: { uid },
      body: { url: `http://outside.example:${inside.port}/`, appendPath: true },
    });
    const headers = { 'X-Forwarded-Host': `127.0.0.1:${inside.port}`, Forwarded: 'host=localhost' };
    const path = `/h/${uid}/@127.0.0.1:${inside.port}/`;
    const sent = await client.send(path, { method: 'POST', body: 'x', headers });
    const index = Number(sent.headers.get('x-creel-request'));
    await expect.poll(async () => (await attemptsOf(index)).length).toBe(1);
    expect((await attemptsOf(index))[0]).toMatchObject({ status: null });
    expectUntouched();
    await client.call('deleteDestination', { params: { uid, id } });
  });
});
