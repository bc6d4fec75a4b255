import pg from 'pg';
import { afterAll, expect, test, vi } from 'vitest';
import { openPatientStore } from '../../../test/patient-store.ts';
import { capture, someEndpoint } from '../../../test/store-world.ts';
import { createTestDatabase } from '../../../test/test-database.ts';

const MIB = 1024 * 1024;

const database = await createTestDatabase();
const store = await openPatientStore(database.url);
afterAll(async () => {
  await store.close();
  await database.remove();
});

test.each([
  ['exactly a piece', MIB, 1],
  ['a byte more', MIB + 1, 2],
  ['several pieces', 2.5 * MIB, 3],
])('a body is read in pieces: %s', async (_, size, pieces) => {
  const { id } = await someEndpoint(store);
  const body = Buffer.from(Array.from({ length: size }, (_each, at) => (at * 7) ^ (at >> 8)));
  await capture(store, [{ to: id, body }]);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const whole = await store.findWhole(id, 0);
  expect(query.mock.calls.filter(([sent]) => JSON.stringify(sent).includes('substr(body'))).toHaveLength(pieces);
  expect([whole?.size, body.equals(whole?.body ?? new Uint8Array())]).toEqual([size, true]);
});
