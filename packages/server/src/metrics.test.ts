import { afterAll, expect, test } from 'vitest';
import { startTestServer } from '../test/test-server.ts';

const server = await startTestServer();
afterAll(() => server.stop());

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.origin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('stored captures are counted once, however often metrics are read', async () => {
  const person = await server.register();
  const { uid } = await person.client.call('createEndpoint', { body: {} });
  expect(await metric('creel_captures_stored_total')).toBe(0);
  for (const nth of [1, 2, 3]) {
    await fetch(`${server.origin}/h/${uid}`, { method: 'POST', body: String(nth) });
    expect(await metric('creel_captures_stored_total')).toBe(nth);
  }
  expect(await metric('creel_captures_stored_total')).toBe(3);
  expect(await metric('creel_captures_failed_total')).toBe(0);
  expect(await metric('creel_captures_waiting')).toBe(0);
  expect(await metric('creel_body_bytes')).toBe(0);
  expect(await metric('creel_passwords_waiting')).toBe(0);
  expect(await metric('creel_log_lines_lost_total')).toBe(0);
  // Only a database in the data folder has a disk to check.
  expect((await metric('creel_data_dir_free_bytes')) > 0).toBe(server.store.watchDisk !== undefined);
});
