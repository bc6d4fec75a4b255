import { chmod, mkdtempDisposable, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { QUERIES } from '../../queries.ts';
import { capture, someEndpoint } from '../../../test/store-world.ts';

const folder = await mkdtempDisposable(join(tmpdir(), 'creel-sqlite-'));
const shared = await openSqliteStore(folder.path, QUERIES);
afterAll(async () => {
  await shared.close();
  await folder.remove();
});
storeSuite('SQLite', shared);

test('only the owner can read a new database, also in a folder that everyone can read', async () => {
  await using own = await mkdtempDisposable(join(tmpdir(), 'creel-mode-'));
  await chmod(own.path, 0o755);
  const store = await openSqliteStore(own.path, QUERIES);
  await someEndpoint(store);
  for (const name of ['creel.db', 'creel.db-wal', 'creel.db-shm'])
    expect([name, (await stat(join(own.path, name))).mode & 0o777]).toEqual([name, 0o600]);
  await store.close();
});

test('a commit that did not wait for the disk is synced soon, by a write of its own', async () => {
  await using own = await mkdtempDisposable(join(tmpdir(), 'creel-sync-'));
  const store = await openSqliteStore(own.path, QUERIES);
  const logBytes = async () => (await stat(join(own.path, 'creel.db-wal'))).size;
  const before = await logBytes();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  // Changes no row, so that only the sync writes to the log.
  await store.correctDueAt(1);
  expect(await logBytes()).toBe(before);
  vi.advanceTimersByTime(1000);
  await expect.poll(logBytes).toBeGreaterThan(before);
  await store.close();
});

test('a checkpoint moves large batches from the log into the file, before the log is full', async () => {
  await using own = await mkdtempDisposable(join(tmpdir(), 'creel-log-'));
  const store = await openSqliteStore(own.path, QUERIES);
  const { id } = await someEndpoint(store);
  const fileBytes = async () => (await stat(join(own.path, 'creel.db'))).size;
  const before = await fileBytes();
  await capture(store, [{ to: id, body: 'x'.repeat(1_000_000) }]);
  await store.checkpoint?.();
  expect(await fileBytes()).toBe(before);
  await capture(store, [{ to: id, body: 'x'.repeat(5_000_000) }]);
  await store.checkpoint?.();
  expect(await fileBytes()).toBeGreaterThan(before + 6_000_000);
  await store.close();
});

test('a capture waits for a few of the writes that were called before it', async () => {
  await using own = await mkdtempDisposable(join(tmpdir(), 'creel-writes-'));
  const store = await openSqliteStore(own.path, QUERIES);
  const { id } = await someEndpoint(store);
  let written = 0;
  const writes = Array.from({ length: 100 }, async () => {
    await store.setDetectedSource(id, 'Stripe');
    written += 1;
  });
  await capture(store, [{ to: id }]);
  expect(written).toBeLessThan(10);
  await Promise.all(writes);
  await store.close();
});

test("a read of many large bodies does not delay other users' reads", async () => {
  await using own = await mkdtempDisposable(join(tmpdir(), 'creel-large-'));
  const store = await openSqliteStore(own.path, QUERIES);
  const [large, other] = [await someEndpoint(store), await someEndpoint(store)];
  for (let nth = 0; nth < 10; nth += 1)
    await capture(store, [{ to: large.id, body: 'x'.repeat(4_000_000) }, { to: other.id }]);
  const ended: string[] = [];
  const list = async (name: string, endpointId: number): Promise<void> => {
    await store.listRequests({ endpointId, which: 'any', limit: 100, bodyBytes: 3 });
    ended.push(name);
  };
  await Promise.all([list('large', large.id), list('other', other.id)]);
  expect(ended).toEqual(['other', 'large']);
  await store.close();
});
