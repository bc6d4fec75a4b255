import { afterAll, expect, test } from 'vitest';
import { startTestServer } from './test-server.ts';

const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM' } });
afterAll(() => server.stop());

test('a registered user carries a session, a visitor does not', async () => {
  const { client, user } = await server.register();
  expect(await client.call('getUser', {})).toEqual(user);
  await expect(server.visitor().call('getUser', {})).rejects.toMatchObject({ status: 401, code: 'NOT_SIGNED_IN' });
});

test('a restart keeps the data and releases the port', async () => {
  const first = await startTestServer();
  const { user, client, password } = await first.register();
  const second = await first.restart();
  const again = second.visitor();
  expect(await again.call('login', { body: { username: user.username, password } })).toMatchObject({ id: user.id });
  await expect(client.call('getUser', {})).rejects.toMatchObject({ status: 0 });
  await second.stop();
});
