import { afterAll, expect, test } from 'vitest';
import { openRawTarget } from '../../../test/raw-target.ts';
import { startServerProcess } from '../../../test/server-process.ts';
import { signUp } from '../../../test/sign-up.ts';

/** A proxy of the environment would connect to addresses that were never checked. */
const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];

const [proxy, target] = await Promise.all([openRawTarget(), openRawTarget()]);
const settings = Object.fromEntries(VARIABLES.map((name) => [name, proxy.url]));
const server = await startServerProcess({ ...settings, NODE_USE_ENV_PROXY: '1' });
const owner = await signUp(server.origin);
afterAll(() => Promise.all([server.stop(), proxy.close(), target.close()]));

const replay = (url: string) => owner.send('/api/replay', { method: 'POST', json: { method: 'GET', url } });

test('a replay ignores the proxy of the environment', async () => {
  expect((await replay(target.url)).status).toBe(200);
  expect([target.count(), proxy.count()]).toEqual([1, 0]);
});

test('a replay over TLS ignores it', async () => {
  const answer = await replay('https://127.0.0.1:9/');
  expect(await answer.json()).toMatchObject({ error: expect.stringMatching(/refused the connection/) });
  expect(proxy.count()).toBe(0);
});

test('a delivery ignores it', async () => {
  const { uid, url } = await owner.createEndpoint();
  const json = { url: target.url };
  await owner.send(`/api/endpoints/${uid}/destinations`, { method: 'POST', json });
  const before = target.count();
  await fetch(url, { method: 'POST', body: 'x' });
  await expect.poll(target.count).toBe(before + 1);
  expect(proxy.count()).toBe(0);
});
