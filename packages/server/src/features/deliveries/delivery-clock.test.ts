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
