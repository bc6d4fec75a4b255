import { describe, expect, test } from 'vitest';
import type { Store } from '../store.ts';
import type { ThrottleRule } from '../throttle-rule.ts';
import { T0, unique } from './store-world.ts';

const RULE: ThrottleRule = { turns: 3, windowMs: 1000 };

/** Throttles, secrets, and what is swept away when its time is over. */
export function throttlesSuite(open: () => Store): void {
  describe('throttles', () => {
    const take = (key: string, now = T0) => open().takeTurn(key, RULE, now);

    test('block a key when its turns are used up, until the window ends', async () => {
      const key = unique('key');
      for (let n = 0; n < 3; n += 1) expect(await take(key, T0 + n)).toBeUndefined();
      expect(await take(key, T0 + 999)).toEqual({ blockedUntil: T0 + 1000 });
      expect(await open().findBlock(key, T0 + 999)).toBe(T0 + 1000);
      expect(await open().findBlock(key, T0 + 1000)).toBeUndefined();
      expect(await open().findBlock(unique('key'), T0)).toBeUndefined();
      expect(await take(key, T0 + 1000)).toBeUndefined();
    });

    test('give out no more turns than there are to fifty at once', async () => {
      const key = unique('key');
      const results = await Promise.all(Array.from({ length: 50 }, () => take(key)));
      expect(results.filter((result) => result === undefined)).toHaveLength(3);
    });

    test('take turns back, and forget them', async () => {
      const key = unique('key');
      for (let n = 0; n < 3; n += 1) await take(key);
      await open().giveTurnBack(key, RULE);
      expect(await open().findBlock(key, T0)).toBeUndefined();
      expect(await take(key)).toBeUndefined();
      expect(await take(key)).toBeDefined();
      await open().forgetTurns(key);
      for (let n = 0; n < 3; n += 1) expect(await take(key)).toBeUndefined();
      await open().giveTurnBack(unique('key'), RULE);
    });

    test('are swept away when they are over, as links and proofs are, and not before', async () => {
      const [key, handle] = [unique('key'), unique('handle')];
      for (let n = 0; n < 3; n += 1) await take(key);
      const proven = { issuer: 'i', subject: unique('s'), email: null, emailVerified: false, displayName: null };
      await open().keepProvenIdentity(handle, proven, T0 + 1000);
      await open().deleteStaleAccountRows(T0 + 999);
      expect(await open().findBlock(key, T0)).toBeDefined();
      expect(await open().findProvenIdentity(handle, T0)).toBeDefined();
      await open().deleteStaleAccountRows(T0 + 1000);
      expect(await open().findBlock(key, T0)).toBeUndefined();
      expect(await open().useProvenIdentity(handle)).toBe(false);
    });
  });

  describe('a secret of the server', () => {
    test('is the first that was offered, for everybody, even at the same moment', async () => {
      const name = unique('secret');
      const kept = await Promise.all(Array.from({ length: 10 }, (_, n) => open().keepSecret(name, `candidate ${n}`)));
      expect(new Set(kept).size).toBe(1);
      expect(await open().keepSecret(name, 'later')).toBe(kept[0]);
      expect(await open().keepSecret(unique('secret'), 'another')).toBe('another');
    });
  });
}
