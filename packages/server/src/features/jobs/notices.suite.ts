import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import type { UserRecord } from '../../database/records.ts';
import type { NewUser } from '../accounts/queries.ts';
import { DAY, T0, anyPlan, notifiedUser, someEndpoint, someSubscription, unique } from '../../../test/store-world.ts';

/** Each notice of expiry is written once. */
export function noticesSuite(store: AppStore): void {
  /** A user who gets notices. */
  const somebody = (details?: Partial<NewUser>) =>
    notifiedUser(store, { emailNotifyExpiry: true }, { subscriptionTier: 'BASIC', ...details });

  describe('notices of expiry', () => {
    // Far from the times of all other tests of this file.
    const START = T0 + 1000 * DAY;
    const add = (from: number, until: number, limit = 100) => store.addExpiryNotices(from, until, limit);
    const claim = () => store.claimMail(DAY);

    test('are written once per expiry, after the first moment and up to the last, one mail per owner', async () => {
      const user = await somebody();
      const at = (expiresAt: number) => someEndpoint(store, { expiresAt, userId: user.id, name: 'N' });
      await at(START);
      const [first, last] = [await at(START + 1), await at(START + DAY)];
      await at(START + DAY + 1);
      expect(await add(START, START + DAY)).toBe(2);
      const mail = await claim();
      expect(mail?.user.id).toBe(user.id);
      expect(JSON.parse(mail?.content ?? '')).toEqual({
        kind: 'endpoints-expire',
        endpoints: [first, last].map(({ uid, expiresAt }) => ({ uid, expiresAt })),
      });
      await store.removeMail(mail?.id ?? 0);
      expect(await claim()).toBeUndefined();
      expect(await add(START, START + DAY)).toBe(0);
      expect(await add(START, START + DAY + 1)).toBe(1);
      await store.changeEndpoint(first.id, { favorite: { on: true, now: START, plans: anyPlan() } });
      await store.changeEndpoint(first.id, {
        favorite: { on: false, now: START + 9, plans: anyPlan({ expiryMs: 0 }) },
      });
      expect(await add(START, START + DAY)).toBe(1);
      await store.deleteUser(user.id);
    });

    test('are sent again at once if the clock was set back after they were claimed', async () => {
      const [from, until] = [START + 5 * DAY, START + 6 * DAY];
      const user = await somebody();
      await someEndpoint(store, { expiresAt: from + 1, userId: user.id });
      expect(await add(from, until)).toBe(1);
      const claimed = await store.claimMail(2 * DAY);
      expect(await claim()).toBeUndefined();
      // For half a day, its end is as far away as after the clock was set back.
      expect(await store.claimMail(DAY / 2)).toEqual(claimed);
      await store.deleteUser(user.id);
    });

    test('are not written for a user who has turned them off', async () => {
      const from = START + 10 * DAY;
      await someEndpoint(store, { expiresAt: from + 1 });
      expect(await add(from, from + DAY)).toBe(1);
      expect(await claim()).toBeUndefined();
    });

    test('are written later for a user who wants them later', async () => {
      const from = START + 15 * DAY;
      const user = await somebody();
      const off = { ...user.settings, emailNotifyExpiry: false };
      await store.changeSettings(user.id, off);
      const endpoint = await someEndpoint(store, { expiresAt: from + 1, userId: user.id });
      expect([await add(from, from + DAY), await add(from, from + DAY)]).toEqual([1, 0]);
      await store.changeSettings(user.id, user.settings);
      expect([await add(from, from + DAY), await add(from, from + DAY)]).toEqual([1, 0]);
      const mail = await claim();
      expect(mail?.content).toContain(endpoint.uid);
      await store.removeMail(mail?.id ?? 0);
      // What was sent is not sent again.
      await store.changeSettings(user.id, off);
      await store.changeSettings(user.id, user.settings);
      expect(await add(from, from + DAY)).toBe(0);
      await store.deleteUser(user.id);
    });

    const LATER = {
      async 'verifies the address'({ id }: UserRecord) {
        const token = unique('token');
        await store.createMailToken(token, id, 'verify', START + 100 * DAY);
        await store.verifyEmail(token, id, START);
      },
      async 'sets a password by a mailed link'({ id }: UserRecord) {
        const token = unique('token');
        await store.createMailToken(token, id, 'reset', START + 100 * DAY);
        await store.resetPassword(token, 'hash', START);
      },
      async 'gets a paid plan'({ id }: UserRecord) {
        await store.lockBillingAccount({ userId: id, owner: 'me', claimMs: DAY }, unique('key'));
        await store.applySubscription(id, 'me', someSubscription(), { now: START, nextCheckAt: START });
      },
    };
    test.each(Object.entries(LATER))('are written later for a user who %s', async (what, change) => {
      const from = START + 17 * DAY;
      const isFree = what === 'gets a paid plan';
      const user = await somebody({ emailVerified: isFree, subscriptionTier: isFree ? 'FREE' : 'BASIC' });
      await someEndpoint(store, { expiresAt: from + 1, userId: user.id });
      expect([await add(from, from + DAY), await add(from, from + DAY)]).toEqual([1, 0]);
      expect(await claim()).toBeUndefined();
      await change(user);
      expect([await add(from, from + DAY), await add(from, from + DAY)]).toEqual([1, 0]);
      const mail = await claim();
      expect(mail?.user.id).toBe(user.id);
      await store.removeMail(mail?.id ?? 0);
      await store.deleteUser(user.id);
    });

    test('each is written by one of five workers, a few at a time', async () => {
      const from = START + 20 * DAY;
      const user = await somebody();
      for (let nth = 0; nth < 20; nth++) await someEndpoint(store, { expiresAt: from + 20 - nth, userId: user.id });
      expect(await add(from, from + DAY, 3)).toBe(3);
      const counts = await Promise.all(Array.from({ length: 5 }, () => add(from, from + DAY)));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(17);
      const named: string[] = [];
      for (let mail = await claim(); mail; mail = await claim())
        named.push(...mail.content.matchAll(/"uid":"([^"]+)"/g).map(([, uid = '']) => uid));
      expect([named.length, new Set(named).size]).toEqual([20, 20]);
      await store.deleteUser(user.id);
    });
  });
}
