import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSecure, plainCall, plainUpgrade } from '../../test/plain-call.ts';
import { startTestServer } from '../../test/test-server.ts';
import type { TestServer } from '../../test/test-server.ts';
import { openSqliteStore } from '../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../queries.ts';

/** Everything that is not an operation; matrix.test.ts covers the operations. */
describe('every response has the security headers', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      // A store that fails to read endpoints: the database's error text must not get out.
      openStore: async (dataDir) => ({
        ...(await openSqliteStore(dataDir, QUERIES)),
        listEndpoints: () => Promise.reject(new Error('SqliteError: no such table: canary_table')),
      }),
    });
  });
  afterAll(() => server.stop());

  test('also the rejection of a live connection', async () => {
    const refused = await plainUpgrade(server.port, '/ws?endpoint=x', {});
    expect(refused.status).toBe(401);
    expectSecure(refused);
    expect(refused.headers['cache-control']).toBe('no-store');
  });

  test.each([
    ['GET', '/api/nothing', 404],
    ['GET', '/api', 404],
    ['POST', '/api', 404],
    ['DELETE', '/api/login', 405],
    ['PROPFIND', '/api/login', 405],
    ['POST', '/nothing', 404],
    ['GET', '/nothing.js', 404],
    ['GET', '/assets/nothing.js', 404],
    ['GET', '/api/%zz', 404],
    ['GET', '/%ff', 200],
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/metrics', 200],
  ])('%s %s: %i', async (method, path, status) => {
    const answer = await plainCall(server.port, { method, path });
    expect(answer.status).toBe(status);
    expectSecure(answer);
  });

  test('an unknown or very long path is reported in JSON', async () => {
    for (const path of ['/api/nothing', '/api/%zz', '/nothing.js', `/api/${'x'.repeat(30_000)}`]) {
      const answer = await plainCall(server.port, { method: 'GET', path });
      expectSecure(answer);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(JSON.parse(answer.text)).toEqual({
        error: 'There is nothing at this address.',
        message: 'There is nothing at this address.',
        code: 'NOT_FOUND',
      });
    }
    const long = await plainCall(server.port, { method: 'GET', path: `/api/endpoints/${'x'.repeat(30_000)}` });
    expect(long.status).toBe(401);
    expectSecure(long);
  });

  test('a page, built or not', async () => {
    for (const path of ['/', '/auth', '/endpoints/x', '/anything?at=all']) {
      const answer = await plainCall(server.port, { method: 'GET', path });
      expect([200, 404]).toContain(answer.status);
      expectSecure(answer);
      expect(answer.text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=/i);
    }
  });

  test('the page is never served without a nonce', async () => {
    for (const method of ['GET', 'HEAD']) {
      for (const path of ['/index.html', '/index.html?at=all', '/index%2ehtml']) {
        const answer = await plainCall(server.port, { method, path, headers: { 'accept-encoding': 'br, gzip' } });
        expect([path, answer.status, answer.headers['location']]).toEqual([path, 302, '/']);
        expectSecure(answer);
      }
      for (const path of ['/index.html.br', '/index.html.gz', '/INDEX.HTML', '//index.html'])
        expect([path, (await plainCall(server.port, { method, path })).status]).toEqual([path, 404]);
    }
  });

  test('an unexpected failure reveals nothing of its cause', async () => {
    const { client } = await server.register();
    const answer = await plainCall(server.port, {
      method: 'GET',
      path: '/api/endpoints',
      headers: { cookie: client.jar.header() },
    });
    expect(answer.status).toBe(500);
    expectSecure(answer);
    expect(JSON.parse(answer.text)).toEqual({
      error: 'Something went wrong on our side. Please try again.',
      message: 'Something went wrong on our side. Please try again.',
      code: 'INTERNAL',
      errorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('a body that is too long is rejected before it is read', async () => {
    const answer = await plainCall(server.port, {
      method: 'POST',
      path: '/api/login',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'x', password: 'x'.repeat(1024 * 1024) }),
    });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([413, 'BODY_TOO_LARGE']);
    expectSecure(answer);
  });
});

test('over https, responses have HSTS, and no other name is accepted', async () => {
  await using server = await startTestServer({ settings: { PUBLIC_URL: 'https://creel.example' } });
  const answer = await plainCall(server.port, { method: 'GET', path: '/api/service' });
  expect(answer.headers['strict-transport-security']).toMatch(/max-age=31536000/);
  const from = (origin: string, host: string) =>
    plainCall(server.port, { method: 'POST', path: '/api/logout', headers: { origin, host } }).then(
      ({ status }) => status,
    );
  expect(await from('https://creel.example', 'creel.example')).toBe(204);
  expect(await from('https://evil.test', 'creel.example')).toBe(403);
  expect(await from('http://creel.example', 'creel.example')).toBe(403);
  expect(await from(server.origin, server.origin.slice(7))).toBe(403);
  expect(await from('https://creel.example.evil.test', 'creel.example.evil.test')).toBe(403);
});

test('a server on every address without a configured name accepts the name in use', async () => {
  await using server = await startTestServer({ settings: { HOST: '0.0.0.0' } });
  const from = (origin: string, host: string) =>
    plainCall(server.port, { method: 'POST', path: '/api/logout', headers: { origin, host } }).then(
      ({ status }) => status,
    );
  expect(await from('http://box.lan:3000', 'box.lan:3000')).toBe(204);
  expect(await from('http://evil.test', 'box.lan:3000')).toBe(403);
});
