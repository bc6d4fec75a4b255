import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../../queries.ts';
import { T0, capture, everything, someEndpoint } from '../../../test/store-world.ts';

test('a capture whose conditions take too long is not forwarded, and says so', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'creel-conditions-'));
  const store = await openSqliteStore(dataDir, QUERIES);
  onTestFinished(async () => {
    await store.close();
    await rm(dataDir, { recursive: true });
  });
  const endpoint = await someEndpoint(store);
  const query = Array.from({ length: 40 }, (_, nth) => `json.*.k:${nth}`).join(' OR ');
  const fields = { url: 'http://127.0.0.1:9/', appendPath: false, enabled: true, query, sign: false };
  await store.createDestination(endpoint.id, fields, { now: T0, limit: 5 });
  // Takes far longer than one slice of work, after which the limit of 0 ms applies.
  const body = JSON.stringify(Array.from({ length: 20_000 }, () => ({ k: 'other' })));
  await capture(store, [{ to: endpoint.id, body }]);
  const installation = { mark: 'mark', secret: 'secret' };
  const matched = await store.matchCaptures(endpoint.id, installation, { maxRows: 4, maxMatchMs: 0 });
  if (matched === undefined) throw new Error('Nothing to plan.');
  const planned = await store.planCaptures(endpoint.id, matched, { now: T0, maxPending: 10 });
  expect(planned).toMatchObject({ planned: [], refused: [{ index: 0 }] });
  const [newest] = await everything(store, endpoint.id);
  const error = 'Not forwarded: the conditions take too long for this request';
  expect(newest?.delivery).toMatchObject({ last: { kind: 'forward', status: null, error }, isPending: false });
});
