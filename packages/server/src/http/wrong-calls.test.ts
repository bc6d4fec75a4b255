import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { exchange, rawRequest } from '../../../../fixtures/raw-http.ts';
import type { RawCall, TestClient } from '../../test/test-client.ts';
import { startTestServer } from '../../test/test-server.ts';

let client: TestClient;

const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM', SIGNUPS_PER_HOUR: '1000' } });
afterAll(() => server.stop());
beforeEach(async () => {
  ({ client } = await server.register());
});

describe('invalid calls', () => {
  const post = (
    body: string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
    path = '/api/endpoints',
  ) => client.answerTo(path, { method: 'POST', body, headers });

  test.each(['{', '{"name":', 'undefined', "{'name':1}", '{"a":1}x', '\u0000'])('malformed JSON: %j', async (body) => {
    expect(await post(body)).toMatchObject({
      status: 400,
      body: { code: 'MALFORMED_JSON', error: 'The body is not valid JSON.' },
    });
  });

  test('a replay may be larger than other calls only with its body', async () => {
    const large = 2 * 1024 * 1024;
    const replay = (fields: string) => post(`{"method":"POST","url":"ftp://h",${fields}}`, undefined, '/api/replay');
    // Its only mistake is the URL.
    expect(await replay(`"body":"${'\\"'.repeat(large / 2)}"`)).toMatchObject({
      status: 400,
      body: { fields: { url: expect.anything() } },
    });
    for (const fields of [`"headers":[${'1,'.repeat(large / 2)}1]`, `"x":[${'"",'.repeat(large / 3)}""]`])
      expect(await replay(fields)).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });

  test('a body has at most 50,000 values', async () => {
    const manyValues = { status: 400, body: { fields: { body: 'Please send at most 50,000 values.' } } };
    for (const many of [`[${'1,'.repeat(50_000)}1]`, `${'['.repeat(50_001)}`, `{"a":[${'{},'.repeat(25_000)}{}]}`])
      expect(await post(many)).toMatchObject(manyValues);
    // Within a text they are no values.
    for (const fine of ['1,'.repeat(24_990), `"${'[\\",{'.repeat(50_000)}",`])
      expect(await post(`{"name":"few","x":[${fine}1]}`)).toMatchObject({ status: 201, body: { name: 'few' } });
  });

  test('bytes that are not UTF-8 are not JSON', async () => {
    const body = Buffer.from('{"name":"caf\xe9"}', 'latin1');
    expect(
      await client.answerTo('/api/endpoints', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      }),
    ).toMatchObject({ status: 400, body: { code: 'MALFORMED_JSON' } });
  });

  test('a byte order mark before JSON is ignored', async () => {
    expect(await post('\uFEFF{"name":"marked"}')).toMatchObject({ status: 201, body: { name: 'marked' } });
    expect((await post('\uFEFF\uFEFF{}')).status).toBe(400);
  });

  test('without a body the type is ignored', async () => {
    expect((await post('', { 'content-type': 'application/x-www-form-urlencoded' }, '/api/logout')).status).toBe(204);
  });

  test.each([
    ['GET', '/%61pi/nothing', 404, undefined],
    ['GET', 'http://h/api/nothing', 404, undefined],
    ['PUT', 'http://h/api/user', 405, 'GET, DELETE, HEAD'],
    ['PUT', '/api/us%65r', 405, 'GET, DELETE, HEAD'],
    ['GET', '/%61pi/user', 401, undefined],
    ['GET', '/api/', 404, undefined],
    ['GET', '/api/endpoints/', 404, undefined],
    ['GET', '/api/endpoints//requests', 404, undefined],
    ['GET', '/api/endpoints/x/requests/', 404, undefined],
    ['GET', '/api/%E0%A4%A', 404, undefined],
    ['POST', '/%E0%A4%A', 404, undefined],
    ['GET', '/%E0%A4%A', 200, undefined],
    ['GET', '/settings', 200, undefined],
    ['GET', 'http://h/settings', 200, undefined],
    ['GET', '/hooks', 200, undefined],
    ['GET', '/H/uid', 404, undefined],
    ['GET', '/h', 404, undefined],
    ['GET', '//h//uid', 404, undefined],
    ['GET', '/./h/uid', 404, undefined],
    ['POST', '/*/uid', 404, undefined],
    ['GET', '/*/uid.js', 404, undefined],
    ['POST', '/:(/uid', 404, undefined],
  ])('%s %s, however it is spelled: %d', async (method, target, status, allow) => {
    const answer = await exchange({ port: server.port }, rawRequest([`${method} ${target} HTTP/1.1`, 'Host: h']));
    const type = status === 200 ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
    expect([answer.status, answer.header('allow'), answer.header('content-type')]).toEqual([status, allow, type]);
  });

  test.each(['checkout', 'portal', 'change'])('billing that is off: %s is rejected', async (call) => {
    await using other = await startTestServer({ settings: { BILLING: 'off' } });
    const person = await other.register();
    const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    const answer = await person.client.answerTo(`/api/subscription/${call}`, init);
    expect(answer).toMatchObject({ status: 501, body: { code: 'BILLING_OFF' } });
  });

  test.each([
    ['POST', '/api/nope', 404, 'NOT_FOUND'],
    ['PUT', '/api/search', 405, 'METHOD_NOT_ALLOWED'],
    ['QUERY', '/api/nope', 404, 'NOT_FOUND'],
    ['QUERY', '/api/user', 405, 'METHOD_NOT_ALLOWED'],
    ['QUERY', '/', 404, 'NOT_FOUND'],
  ])('%s %s: what is sent along does not matter', async (method, path, status, code) => {
    const json = { 'content-type': 'application/json' };
    for (const init of [{}, { body: '{', headers: json }, { body: 'x'.repeat(1_048_577), headers: json }])
      expect(await client.answerTo(path, { method, ...init })).toMatchObject({ status, body: { code } });
  });

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/json2', 'x'])(
    'another type: %s',
    async (type) => {
      expect(await post('{}', { 'content-type': type })).toMatchObject({
        status: 415,
        body: { code: 'UNSUPPORTED_MEDIA_TYPE' },
      });
    },
  );

  test('a compressed body', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const error = 'Please send the body without a content coding such as gzip.';
    const answer = { status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE', error, message: error } };
    const body = new Uint8Array(gzipSync('{}'));
    expect(await client.answerTo('/api/endpoints', { method: 'POST', headers, body })).toMatchObject(answer);
    expect((await post('{}', { ...headers, 'content-encoding': 'identity' })).status).toBe(201);
  });

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON'])(
    'the right type, said otherwise: %s',
    async (type) => {
      expect((await post('{}', { 'content-type': type })).status).toBe(201);
    },
  );

  test('a call with only optional fields needs no body', async () => {
    expect(await client.answerTo('/api/endpoints', { method: 'POST' })).toMatchObject({
      status: 201,
      body: { name: null },
    });
  });

  test('a body of 1 MiB is read, one byte more is not', async () => {
    const whole = (bytes: number) => `{"name":"ok","more":"${'x'.repeat(bytes - '{"name":"ok","more":""}'.length)}"}`;
    expect((await post(whole(1_048_576))).status).toBe(201);
    expect(await post(whole(1_048_577))).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });

  test('JSON that targets the prototype gets an ordinary response', async () => {
    expect(
      (await post('{"__proto__":{"name":"polluted"},"constructor":{"prototype":{"name":"polluted"}}}')).body,
    ).toMatchObject({ name: null });
    expect(Object.hasOwn(Object.prototype, 'name')).toBe(false);
  });

  test('what another user owns is a 404, even if the input is invalid', async () => {
    const stranger = (await server.register()).client;
    const theirs = await stranger.call('createEndpoint', { body: {} });
    await stranger.send(`/h/${theirs.uid}`, { method: 'POST', body: 'theirs' });
    const destination = { url: 'http://127.0.0.1:9/', enabled: false };
    const { id } = await stranger.call('createDestination', { params: { uid: theirs.uid }, body: destination });
    const { uid } = await client.call('createEndpoint', { body: {} });
    const source = { endpointUid: theirs.uid, id: -1_000_000 };
    const malformed = { body: '{', headers: { 'content-type': 'application/json' } };
    const calls: [string, RawCall, string][] = [
      [`/api/endpoints/${uid}/destinations/${id}`, { method: 'PATCH', ...malformed }, 'DESTINATION_NOT_FOUND'],
      [`/api/endpoints/${uid}/destinations/${id}`, { method: 'PATCH', body: 'text' }, 'DESTINATION_NOT_FOUND'],
      [`/api/endpoints/${uid}/requests/-1000000/deliveries`, { method: 'POST', ...malformed }, 'REQUEST_NOT_FOUND'],
      [`/api/endpoints/${uid}/destinations/${id}`, { method: 'PATCH', json: { enabled: 1 } }, 'DESTINATION_NOT_FOUND'],
      [`/api/endpoints/${uid}/requests/-1000000/deliveries`, { method: 'POST', json: {} }, 'REQUEST_NOT_FOUND'],
      [`/api/endpoints/${uid}/requests/-1000000/deliveries?planned=x`, {}, 'REQUEST_NOT_FOUND'],
      ['/api/replay', { method: 'POST', json: { url: 'nonsense', bodyFrom: source } }, 'REQUEST_NOT_FOUND'],
      ['/api/replay', { method: 'POST', json: { url: 'nonsense', bodyFrom: 1, of: source } }, 'REQUEST_NOT_FOUND'],
    ];
    for (const [path, init, code] of calls)
      expect([path, await client.answerTo(path, init)]).toMatchObject([path, { status: 404, body: { code } }]);
    const own = { method: 'POST', url: 'nonsense', bodyFrom: 1 };
    expect(await client.answerTo('/api/replay', { method: 'POST', json: own })).toMatchObject({ status: 400 });
  });

  test.each([
    ['PUT', '/api/endpoints', 'GET, POST, HEAD'],
    ['DELETE', '/api/endpoints', 'GET, POST, HEAD'],
    ['POST', '/api/user', 'GET, DELETE, HEAD'],
    ['GET', '/api/login', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/metrics?x=1', 'GET, HEAD'],
    ['POST', '/readyz', 'GET, HEAD'],
  ])('%s %s is no method of it', async (method, path, allow) => {
    const answer = await client.answerTo(path, { method });
    expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
    expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
  });

  test('an unknown path is JSON, logged in or not', async () => {
    for (const caller of [client, server.visitor()]) {
      for (const path of ['/api', '/api/', '/api/nothing', '/api/endpoints/x/y/z/nothing', '/api?x']) {
        expect(await caller.answerTo(path)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND', error: 'There is nothing at this address.' },
        });
      }
    }
  });
});
