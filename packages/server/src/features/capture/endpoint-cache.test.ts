import { expect, test } from 'vitest';
import type { EndpointRecord } from '../../database/store.ts';
import { EndpointCache } from './endpoint-cache.ts';

/** A cache whose reads end when the test says so, in any order. */
function someCache() {
  const reads: ((name: string) => void)[] = [];
  const findEndpoint = (uid: string): Promise<EndpointRecord> =>
    new Promise((resolve) => {
      const record = { id: 1, uid, userId: 1, name: null, createdAt: 0, expiresAt: null, autosave: false };
      const counts = { isFavorite: false, requestCount: 0, savedCount: 0, unsavedCount: 0, latestAt: null };
      reads.push((source) => resolve({ ...record, ...counts, source: source === '' ? null : source }));
    });
  const cache = new EndpointCache({ findEndpoint, shared: false }, undefined, () => 0);
  return { cache, endRead: (nth: number, source: string) => reads[nth]?.(source), readCount: () => reads.length };
}

test('a lookup from before a change is not kept, and does not end the newer one', async () => {
  const { cache, endRead, readCount } = someCache();
  const old = cache.lookup('u');
  cache.forget('u');
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
