import { expect, test } from 'vitest';
import type { EndpointRecord } from '../../database/records.ts';
import { StorageUnavailable } from '../../database/store.ts';
import { EndpointCache } from './endpoint-cache.ts';
import { endpointRecord } from '../../../test/endpoint-record.ts';

/** A cache with a test clock, whose reads end on command, in any order. */
function someCache(shared = false) {
  const reads: ((name: string) => void)[] = [];
  const failures: ((error: Error) => void)[] = [];
  const clock = { now: 0 };
  const bus = { isHealthy: !shared };
  const findEndpoint = (uid: string): Promise<EndpointRecord> =>
    new Promise((resolve, reject) => {
      failures.push(reject);
      reads.push((source) => resolve(endpointRecord({ id: 1, uid, source: source === '' ? null : source })));
    });
  const cache = new EndpointCache({ findEndpoint }, 1, () => clock.now, bus);
  const endRead = (nth: number, source: string) => reads[nth]?.(source);
  const failRead = (nth: number, error = new Error('away')) => failures[nth]?.(error);
  return { cache, clock, bus, endRead, failRead, readCount: () => reads.length };
}

test('a lookup from before a change is not cached, and does not end the newer one', async () => {
  const { cache, endRead, readCount } = someCache();
  const old = cache.lookup('u');
  cache.forget(1);
  const newer = cache.lookup('u');
  endRead(0, '');
  await old;
  expect(cache.peek('u')).toBeUndefined();
  const joined = cache.lookup('u');
  expect(readCount()).toBe(2);
  endRead(1, 'Stripe');
  await Promise.all([newer, joined]);
  expect(cache.peek('u')?.needsSource).toBe(false);
});

/** A shared cache that has read the endpoint once, at time 0. */
async function filledCache() {
  const filled = someCache(true);
  const first = filled.cache.lookup('u');
  filled.endRead(0, 'Stripe');
  await first;
  return filled;
}

test('an entry that is no longer fresh still serves while it is read again, once', async () => {
  const { cache, clock, endRead, readCount } = await filledCache();
  clock.now = 1000;
  expect(cache.peek('u')).toBeDefined();
  expect(readCount()).toBe(1);
  clock.now = 1001;
  for (let nth = 0; nth < 3; nth += 1) expect(cache.peek('u')?.readAt).toBe(0);
  expect(readCount()).toBe(2);
  endRead(1, 'Stripe');
  await cache.lookup('u');
  expect(cache.peek('u')?.readAt).toBe(1001);
});

test('an entry beyond its maximum age is read before it serves', async () => {
  const { cache, clock, readCount } = await filledCache();
  clock.now = 1401;
  expect(cache.peek('u')).toBeUndefined();
  expect(readCount()).toBe(1);
});

test('the last known entry serves while the database does not answer', async () => {
  const { cache, clock, failRead } = await filledCache();
  clock.now = 60_000;
  const lookup = cache.lookup('u');
  failRead(1);
  expect((await lookup)?.uid).toBe('u');
  const unknown = cache.lookup('never read');
  failRead(2);
  await expect(unknown).rejects.toThrow('away');
});

test('after the clock was set back, an entry is read before it serves', async () => {
  const { cache, clock, failRead, readCount } = await filledCache();
  clock.now = -3_600_000;
  expect(cache.peek('u')).toBeUndefined();
  const failing = cache.lookup('u');
  failRead(1, new StorageUnavailable('away'));
  await failing;
  clock.now -= 3_600_000;
  expect(cache.peek('u')).toBeDefined();
  expect(readCount()).toBe(3);
});

test('while notices arrive an entry has no age limit', async () => {
  const { cache, clock, bus, readCount } = await filledCache();
  bus.isHealthy = true;
  clock.now = 3_600_000;
  expect(cache.peek('u')?.readAt).toBe(0);
  expect(readCount()).toBe(1);
});

test('an endpoint that another node changed is read again, and a read in progress is not cached', async () => {
  const { cache, bus, endRead, readCount } = await filledCache();
  bus.isHealthy = true;
  cache.forget(2);
  expect(cache.peek('u')).toBeDefined();
  cache.forget(1);
  expect(cache.peek('u')).toBeUndefined();
  const old = cache.lookup('u');
  cache.forget(1);
  endRead(1, 'Stripe');
  await old;
  expect(cache.peek('u')).toBeUndefined();
  expect(readCount()).toBe(2);
});

test('a changed endpoint is read at once, and serves as it was while the database does not answer', async () => {
  const { cache, clock, bus, endRead, failRead, readCount } = await filledCache();
  bus.isHealthy = true;
  const bucket = cache.peek('u')?.bucket;
  cache.invalidate(1);
  expect(readCount()).toBe(2);
  expect(cache.peek('u')).toBeUndefined();
  const failed = cache.lookup('u');
  failRead(1, new StorageUnavailable('away'));
  expect((await failed)?.needsSource).toBe(false);
  expect(cache.peek('u')?.needsSource).toBe(false);
  // The database is asked again after a moment.
  expect(readCount()).toBe(2);
  const again = cache.lookup('u');
  endRead(2, '');
  await again;
  expect(cache.peek('u')?.needsSource).toBe(true);
  // A change does not fill it.
  expect(bucket?.consume()).toBe(0);
  expect(cache.peek('u')?.bucket).toBe(bucket);
  // The database answers again, so entries have a maximum age again.
  bus.isHealthy = false;
  clock.now = 1401;
  expect(cache.peek('u')).toBeUndefined();
});

test('after lost notices every entry is read before it serves, unless the database does not answer', async () => {
  const { cache, bus, endRead, failRead } = await filledCache();
  bus.isHealthy = true;
  cache.invalidateAll();
  expect(cache.peek('u')).toBeUndefined();
  const failed = cache.lookup('u');
  failRead(1);
  expect((await failed)?.readAt).toBe(0);
  expect(cache.peek('u')).toBeUndefined();
  const again = cache.lookup('u');
  endRead(2, 'Stripe');
  await again;
  expect(cache.peek('u')).toBeDefined();
});

test('a full cache drops the entry that was read longest ago, and none when it reads one again', async () => {
  const { cache, endRead } = someCache();
  const read = async (nth: number, uid: string): Promise<void> => {
    const lookup = cache.lookup(uid);
    endRead(nth, 'Stripe');
    await lookup;
  };
  for (let nth = 0; nth < 10_000; nth += 1) await read(nth, `u${nth}`);
  await read(10_000, 'u1');
  expect(cache.peek('u0')).toBeDefined();
  for (const [nth, uid] of ['new', 'newer'].entries()) await read(10_001 + nth, uid);
  const kept = ['new', 'newer', 'u0', 'u1', 'u2', 'u3'].filter((uid) => cache.peek(uid) !== undefined);
  expect(kept).toEqual(['new', 'newer', 'u1', 'u3']);
});
