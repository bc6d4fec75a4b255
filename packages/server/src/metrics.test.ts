import { afterAll, expect, test } from 'vitest';
import { metricOf } from '../test/metric.ts';
import { startTestServer } from '../test/test-server.ts';

const server = await startTestServer();
afterAll(() => server.stop());

const metric = (name: string) => metricOf(server.origin, name);

test('stored captures are counted once, however often metrics are read', async () => {
  const { uid } = await server.registerOwner();
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
