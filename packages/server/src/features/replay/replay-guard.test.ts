import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendRequest } from './send-request.ts';
import type { SendRequest } from './send-request.ts';
import { FORBIDDEN_URLS, INTERNAL_HOSTS, INTERNAL_NAMES } from '../../../test/internal-addresses.ts';
import { openRawTarget } from '../../../test/raw-target.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';

/** The successive DNS responses of names; the last one stays. */
const names = new Map<string, string[][]>();
/** Lookups of `hanging.example` wait for this. */
const hung = Promise.withResolvers<string[]>();
const lookUp = (name: string): Promise<string[]> => {
  if (name === 'hanging.example') return hung.promise;
  const answers = names.get(name);
  const answer = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
  return answer === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(answer);
};
/** In this thread, so that the test controls DNS. */
const sendHere: SendRequest = (request, gone) => sendRequest(request, gone, lookUp);

const server = await startTestServer({
  settings: { ALLOW_PRIVATE_TARGETS: 'false' },
  replay: { sendRequest: sendHere, maxMs: 3000 },
});
const { client } = await server.register();
const inside = await openRawTarget('127.0.0.1');
const inside6 = await openRawTarget('::1');
afterAll(async () => {
  await Promise.all([server.stop(), inside.close(), inside6.close()]);
});

const replay = (url: string, more: object = {}) =>
  client.answerTo('/api/replay', { method: 'POST', json: { method: 'GET', url, ...more } });
const REFUSED = {
  status: 403,
  body: {
    code: 'TARGET_NOT_ALLOWED',
    error: 'This destination is not allowed. Its address is not on the public internet.',
  },
};
const expectUntouched = (): void => expect([inside.count(), inside6.count()]).toEqual([0, 0]);

describe('a public server sends nothing to internal addresses', () => {
  test.each(INTERNAL_HOSTS)('however its address is written: %s', async (host) => {
    expect(await replay(`http://${host}:${inside.port}/`)).toMatchObject(REFUSED);
    expect(await replay(`http://${host}:${inside6.port}/`)).toMatchObject(REFUSED);
    expectUntouched();
  });

  test('whether something listens there or not, with the same error', async () => {
    const open = await replay(inside.url);
    const closed = await replay('http://127.0.0.1:9/');
    expect(closed.body).toEqual(open.body);
    expect(open).toMatchObject(REFUSED);
  });

  test.each(INTERNAL_NAMES)('%s', async (_what, answers) => {
    names.set('rebound.example', answers);
    expect(await replay(`http://rebound.example:${inside.port}/`)).toMatchObject(REFUSED);
    expectUntouched();
  });

  test('a name that changes later goes to its checked address, or nowhere', async () => {
    // The address does not respond. From the second lookup on the name leads inside; no second lookup happens.
    names.set('moving.example', [['2001:4860:4860::8888'], ['127.0.0.1']]);
    expect(await replay(`http://moving.example:${inside.port}/`)).toMatchObject({ status: 502 });
    expect(names.get('moving.example')).toEqual([['127.0.0.1']]);
    expectUntouched();
  });

  test('no header changes the destination', async () => {
    names.set('nowhere.example', [['127.0.0.1']]);
    const headers = { Host: 'good.example', 'X-Forwarded-Host': 'good.example', Forwarded: 'host=good.example' };
    expect(await replay(`http://nowhere.example:${inside.port}/`, { headers })).toMatchObject(REFUSED);
    expectUntouched();
  });

  test('lookups that hang delay no other user', async () => {
    const { client: other } = await server.register();
    const slow = Array.from({ length: 10 }, () => replay('http://hanging.example/'));
    const quick = { method: 'GET', url: 'http://gone.example/' };
    expect(await other.answerTo('/api/replay', { method: 'POST', json: quick })).toMatchObject({ status: 502 });
    hung.resolve([]);
    // They still waited for their lookups.
    const error = 'The name hanging.example has no address.';
    for (const answer of await Promise.all(slow)) expect(answer).toMatchObject({ status: 502, body: { error } });
  });

  test('an unknown name is reported', async () => {
    expect(await replay('http://gone.example/')).toMatchObject({
      status: 502,
      body: { code: 'REPLAY_FAILED', error: 'The name gone.example could not be found.' },
    });
  });

  test.each([22, 25, 6379, 11_211])('port %i belongs to another service, on any host', async (port) => {
    for (const host of ['8.8.8.8', 'gone.example'])
      expect(await replay(`http://${host}:${port}/`)).toMatchObject({
        status: 403,
        body: { code: 'TARGET_NOT_ALLOWED', error: expect.stringMatching(/port/) },
      });
  });
});

describe('a server on a loopback address, or with the setting, reaches its own networks', () => {
  let local: TestServer;
  let their: TestClient;
  beforeAll(async () => {
    local = await startTestServer({ replay: { sendRequest: sendHere } });
    ({ client: their } = await local.register());
  });
  afterAll(() => local.stop());
  const send = (url: string) => their.answerTo('/api/replay', { method: 'POST', json: { method: 'GET', url } });

  test.each(['127.0.0.1', 'web', 'both', '0.0.0.0', '[::ffff:127.0.0.1]'])('this machine as %s', async (host) => {
    await using target = await openRawTarget();
    names.set('web', [['127.0.0.1']]);
    names.set('both', [['::1', '127.0.0.1']]);
    expect(await send(`http://${host}:${target.port}/`)).toMatchObject({ status: 200, body: { status: 200 } });
    expect(target.count()).toBe(1);
  });

  test.each(FORBIDDEN_URLS)('but never link-local addresses and cloud metadata: %s', async (url) => {
    names.set('metadata.example', [['169.254.169.254']]);
    expect(await send(url)).toMatchObject(REFUSED);
  });
});
