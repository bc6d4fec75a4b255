import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import type { ThrottleRule } from './throttle-queries.ts';
import { T0, unique } from '../../../test/store-world.ts';

const RULE: ThrottleRule = { attempts: 3, windowMs: 1000 };

/** Throttles, secrets, and the removal of expired rows. */
export function throttlesSuite(store: AppStore): void {
  describe('throttles', () => {
    const take = (key: string, now = T0) => store.consumeAttempt(key, RULE, now);
    const blockOf = (key: string) => store.findBlock([key]);

    test('block a key when its attempts are used up, until the window ends', async () => {
      const key = unique('key');
      for (let n = 0; n < 3; n += 1) expect(await take(key, T0 + n)).toBeUndefined();
      expect(await take(key, T0 + 999)).toBe(T0 + 1000);
      expect(await blockOf(key)).toBe(T0 + 1000);
      expect(await blockOf(unique('key'))).toBe(0);
      expect(await take(key, T0 + 1000)).toBeUndefined();
      expect(await blockOf(key)).toBe(0);
    });

    test('are found for several keys at once: the one that is blocked longest', async () => {
      const [blocked, longer, counted] = [unique('key'), unique('key'), unique('key')];
      for (let n = 0; n < 3; n += 1) await take(blocked);
      for (let n = 0; n < 3; n += 1) await take(longer, T0 + 1);
      await take(counted);
      expect(await store.findBlock([longer, blocked, counted, unique('key')])).toBe(T0 + 1001);
      expect(await store.findBlock([counted, blocked])).toBe(T0 + 1000);
      expect(await store.findBlock([counted, unique('key')])).toBe(0);
    });

    test('give fifty parallel calls no more attempts than allowed', async () => {
      const key = unique('key');
      const results = await Promise.all(Array.from({ length: 50 }, () => take(key)));
      expect(results.filter((result) => result === undefined)).toHaveLength(3);
    });

    test('refund attempts, and reset them', async () => {
      const key = unique('key');
      for (let n = 0; n < 3; n += 1) await take(key);
      await store.refundAttempt(key, RULE);
      expect(await blockOf(key)).toBe(0);
      expect(await take(key)).toBeUndefined();
      expect(await take(key)).toBeDefined();
      await store.resetAttempts(key);
      for (let n = 0; n < 3; n += 1) expect(await take(key)).toBeUndefined();
      // A key without attempts: no error.
      await store.refundAttempt(unique('key'), RULE);
    });

    test('are removed when they expire, like proofs, and not before', async () => {
      const [key, handle] = [unique('key'), unique('handle')];
      for (let n = 0; n < 3; n += 1) await take(key);
      const proven = { issuer: 'i', subject: unique('s'), email: null, emailVerified: false, displayName: null };
      await store.storeProvenIdentity(handle, proven, T0 + 1000);
      await store.deleteStaleAccountRows(T0 + 999);
      expect(await blockOf(key)).toBe(T0 + 1000);
      expect(await store.findProvenIdentity(handle, T0)).toBeDefined();
      await store.deleteStaleAccountRows(T0 + 1000);
      expect(await blockOf(key)).toBe(0);
      expect(await store.consumeProvenIdentity(handle)).toBe(false);
    });
  });

  describe('a secret of the server', () => {
    test('is the first candidate, for everyone, even in parallel', async () => {
      const name = unique('secret');
      const kept = await Promise.all(
        Array.from({ length: 10 }, (_, n) => store.findOrCreateSecret(name, `candidate ${n}`)),
      );
      expect(new Set(kept).size).toBe(1);
      expect(await store.findOrCreateSecret(name, 'later')).toBe(kept[0]);
      expect(await store.findOrCreateSecret(unique('secret'), 'another')).toBe('another');
    });
  });
}
