import { unsavedId } from '@creel/contract';
import type { DeliveryAttempt } from '@creel/contract';
import { expect, test } from 'vitest';
import { startTarget } from '../../../../../fixtures/target-server.ts';
import { startTestServer } from '../../../test/test-server.ts';

const HOUR = 3_600_000;

test('no delivery waits an hour because the clock is set back by an hour', async () => {
  await using server = await startTestServer();
  await using target = await startTarget();
  const { client, uid } = await server.registerOwner();
  await client.call('createDestination', { params: { uid }, body: { url: target.url } });
  const send = (body: string) => client.send(`/h/${uid}`, { method: 'POST', body });
  const attemptsOf = (index: number): Promise<DeliveryAttempt[]> =>
    client.call('listDeliveries', { params: { uid, id: unsavedId(index) } });

  target.answerWith((response) => response.writeHead(503).end());
  await send('first');
  await expect.poll(async () => (await attemptsOf(0)).length).toBe(1);
  server.clock.advance(-HOUR);
  target.answerWith((response) => response.end());
  await send('second');
  await expect.poll(async () => (await attemptsOf(1)).length).toBe(1);
  const nextAttemptAt = async () => Date.parse((await attemptsOf(0))[0]?.nextAttemptAt ?? '');
  await expect.poll(nextAttemptAt).toBeLessThan(server.clock.now() + 60_000);
  server.clock.advance(7000);
  await expect.poll(async () => (await attemptsOf(0)).length).toBe(2);
});

test('a wait is not longer after the clock is set back while no server runs', async () => {
  const server = await startTestServer();
  await using target = await startTarget();
  const { client, uid, endpointId } = await server.registerOwner();
  await client.call('createDestination', { params: { uid }, body: { url: target.url } });
  const nextOf = async (index: number, { store } = server): Promise<number> =>
    (await store.listAttempts(endpointId, index))[0]?.nextAttemptAt ?? 0;
  const fail = async (index: number, headers: Readonly<Record<string, string>>): Promise<number> => {
    target.answerWith((response) => response.writeHead(503, headers).end());
    await client.send(`/h/${uid}`, { method: 'POST' });
    await expect.poll(() => nextOf(index)).toBeGreaterThan(0);
    return nextOf(index);
  };
  const asked = await fail(0, { 'retry-after': '7200' });
  server.clock.advance(HOUR / 2);
  await fail(1, {});
  server.clock.advance(-60_000);
  await using again = await server.restart();
  await expect.poll(() => nextOf(1, again)).toBeLessThan(server.clock.now() + 10_000);
  // This wait has begun before now, so its target still decides.
  expect(await nextOf(0, again)).toBe(asked);
});
