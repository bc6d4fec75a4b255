import { afterAll, expect, test, vi } from 'vitest';
import { openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { RawConnection } from '../../../../../fixtures/raw-http.ts';
import { Passwords } from './passwords.ts';
import { metricOf } from '../../../test/metric.ts';
import { startTestServer } from '../../../test/test-server.ts';

/** Passwords at their real cost: a crowd waits for seconds. */
const passwords = new Passwords();
const server = await startTestServer({ settings: { TRUST_PROXY: '127.0.0.1' }, passwords });
afterAll(() => server.stop());

const waiting = () => metricOf(server.origin, 'creel_passwords_waiting');

test.each([
  ['reset', (connection: RawConnection) => connection.reset()],
  ['closed', (connection: RawConnection) => connection.close()],
])('logins whose clients have %s their connections do not block an honest one', async (_how, leave) => {
  const { user, password } = await server.register();
  const verify = vi.spyOn(passwords, 'verify');
  const body = JSON.stringify({ username: 'nobody', password: 'a wrong password' });
  const crowd = await Promise.all(Array.from({ length: 700 }, () => openRaw({ port: server.port })));
  for (const [nth, connection] of crowd.entries()) {
    const from = `X-Forwarded-For: 10.0.${nth >> 8}.${nth & 255}`;
    const lines = ['POST /api/login HTTP/1.1', 'Host: h', from, 'Content-Type: application/json'];
    const named = body.replace('nobody', `nobody-${nth}`);
    connection.send(rawRequest([...lines, `Content-Length: ${named.length}`], named)).catch(() => undefined);
  }
  await expect.poll(waiting).toBeGreaterThan(300);
  for (const connection of crowd) leave(connection);
  await expect.poll(waiting).toBe(0);
  const checks = await Promise.allSettled(verify.mock.results.map(({ value }) => value));
  // At least 300 waited. Some of these run while the server notices that the clients left.
  expect(checks.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(150);
  const answer = await server
    .visitor()
    .answerTo('/api/login', { method: 'POST', json: { username: user.username, password } });
  expect(answer.status).toBe(200);
});

test('a client that closes only its sending side waits for its login', async () => {
  const { user, password } = await server.register();
  const crowd = Array.from({ length: 30 }, (_, nth) => passwords.hash('a password', { owner: `other ${nth}` }));
  const body = JSON.stringify({ username: user.username, password });
  const connection = await openRaw({ port: server.port });
  const lines = ['POST /api/login HTTP/1.1', 'Host: h', 'Content-Type: application/json'];
  await connection.send(rawRequest([...lines, `Content-Length: ${body.length}`], body));
  connection.halfClose();
  expect((await connection.final()).status).toBe(200);
  await Promise.all(crowd);
});
