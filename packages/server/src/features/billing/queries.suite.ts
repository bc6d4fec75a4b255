import { PLANS } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import {
  DAY,
  T0,
  anyPlan,
  notifiedUser,
  someEndpoint,
  someSubscription,
  someUser,
  unique,
} from '../../../test/store-world.ts';

/** Billing's queries, on every database. */
export function billingSuite(store: AppStore): void {
  const lock = (userId: number, owner: string, claimMs = 60_000) =>
    store.lockBillingAccount({ userId, owner, claimMs }, unique('key'));
  const claimDueAccounts = async (now: number): Promise<readonly number[]> => {
    const userId = await store.claimDueAccount(now, T0 + DAY);
    return userId === undefined ? [] : [userId, ...(await claimDueAccounts(now))];
  };

  describe('billing', () => {
    test('an account is locked by one of five, until it is unlocked or the lock expires', async () => {
      const { id } = await someUser(store);
      const owners = ['a', 'b', 'c', 'd', 'e'];
      const outcomes = await Promise.all(owners.map((owner) => lock(id, owner)));
      expect(outcomes.toSorted()).toEqual(['busy', 'busy', 'busy', 'busy', 'locked']);
      const owner = owners[outcomes.indexOf('locked')] ?? '';
      await store.unlockBillingAccount(id, 'somebody else');
      expect(await lock(id, 'f')).toBe('busy');
      await store.unlockBillingAccount(id, owner);
      expect(await lock(id, 'f')).toBe('locked');
      expect(await lock(id, 'g')).toBe('busy');
      await store.renewBillingLock(id, 'f', 0);
      expect(await lock(id, 'g')).toBe('locked');
      expect(await lock(id + 1_000_000, 'h')).toBe('no-user');
    });

    test('a claim from before the clock was set back is over', async () => {
      const { id } = await someUser(store);
      await lock(id, 'first', 2 * DAY);
      expect(await lock(id, 'second', DAY)).toBe('busy');
      // For half a day, its end is as far away as after the clock was set back.
      expect(await lock(id, 'second', DAY / 2)).toBe('locked');
    });

    test('a claim is prolonged by its owner, and by nobody who lost it', async () => {
      const { id } = await someUser(store);
      await lock(id, 'first', 0);
      await store.renewBillingLock(id, 'first', 60_000);
      await store.renewBillingLock(id, 'second', 0);
      expect(await lock(id, 'second')).toBe('busy');
      await store.renewBillingLock(id, 'first', 0);
      expect(await lock(id, 'second', 0)).toBe('locked');
      await store.renewBillingLock(id, 'first', 60_000);
      expect(await lock(id, 'third')).toBe('locked');
    });

    test('a process that lost the account writes nothing', async () => {
      const user = await someUser(store);
      await lock(user.id, 'first', 0);
      await lock(user.id, 'second');
      const at = { now: T0, nextCheckAt: T0 + 1 };
      expect(await store.applySubscription(user.id, 'first', someSubscription(), at)).toBe('lost');
      expect(await store.findUser(user.id)).toEqual(user);
      expect(await store.applySubscription(user.id, 'second', someSubscription(), at)).toMatchObject({
        user: { subscriptionTier: 'BASIC' },
        deleted: [],
      });
      expect(await claimDueAccounts(T0)).not.toContain(user.id);
      expect(await claimDueAccounts(T0 + 1)).toContain(user.id);
      expect(await store.findBillingAccount(user.id)).toMatchObject({ period_end_at: T0 + 30 * DAY });
    });

    test('the end of a plan keeps the newest endpoint, and leaves expired ones to their retention', async () => {
      const user = await someUser(store);
      await lock(user.id, 'me');
      const at = { now: T0, nextCheckAt: T0 + 1 };
      await store.applySubscription(user.id, 'me', someSubscription(), at);
      const make = (createdAt: number, expiresAt: number) =>
        someEndpoint(store, { userId: user.id, createdAt, expiresAt });
      const [expired, old, newest] = [
        await make(T0 - 3, T0 - 1),
        await make(T0 - 2, T0 + DAY),
        await make(T0 - 1, T0 + 9 * DAY),
      ];
      await store.changeEndpoint(old.id, { favorite: { on: true, now: T0, plans: anyPlan() } });
      const applied = await store.applySubscription(user.id, 'me', undefined, at);
      expect(applied).toMatchObject({ deleted: [old.id], changed: [newest.id] });
      const left = await store.listEndpoints(user.id);
      expect(left.map(({ id, isFavorite, expiresAt }) => [id, isFavorite, expiresAt])).toEqual([
        [newest.id, false, T0 + DAY],
        [expired.id, false, T0 - 1],
      ]);
      // Other tests count expired endpoints.
      await store.deleteUser(user.id);
    });

    test('a higher plan prolongs endpoints that would expire earlier than a new one', async () => {
      const user = await someUser(store);
      await lock(user.id, 'me');
      const make = (expiresAt: number) => someEndpoint(store, { userId: user.id, createdAt: T0 - 1, expiresAt });
      const [expired, soon, late] = [await make(T0), await make(T0 + 1), await make(T0 + 9 * DAY)];
      const at = { now: T0, nextCheckAt: T0 + 1 };
      const apply = async (now: number) => {
        expect(await store.applySubscription(user.id, 'me', someSubscription(), { ...at, now })).toMatchObject({
          deleted: [],
          changed: now === T0 ? [soon.id] : [],
        });
        return new Map((await store.listEndpoints(user.id)).map(({ id, expiresAt }) => [id, expiresAt]));
      };
      const left = new Map([
        [expired.id, T0],
        [soon.id, T0 + PLANS.BASIC.expiryMs],
        [late.id, T0 + 9 * DAY],
      ]);
      expect(await apply(T0)).toEqual(left);
      expect(await apply(T0 + DAY), 'the same plan again').toEqual(left);
      // Other tests count expired endpoints.
      await store.deleteUser(user.id);
    });

    test('a higher plan makes skipped notices of expiry due again', async () => {
      const user = await notifiedUser(store, { emailNotifyExpiry: true });
      const expiresAt = T0 + 4000 * DAY;
      await someEndpoint(store, { userId: user.id, expiresAt });
      const addNotices = () => store.addExpiryNotices(expiresAt - 1, expiresAt, 10);
      expect([await addNotices(), await addNotices()]).toEqual([1, 0]);
      await lock(user.id, 'me');
      await store.applySubscription(user.id, 'me', someSubscription(), { now: T0, nextCheckAt: T0 + 1 });
      expect([await addNotices(), await addNotices()]).toEqual([1, 0]);
      // Other tests claim emails.
      await store.deleteUser(user.id);
    });

    test('the limits of the plan at that moment are applied', async () => {
      const user = await someUser(store);
      const endpoint = { userId: user.id, name: null, source: null, createdAt: T0, autosave: false };
      const create = () => store.createEndpoint({ ...endpoint, uid: unique('uid') }, PLANS);
      const { id } = await someEndpoint(store, { userId: user.id });
      const favorite = { on: true, now: T0, plans: PLANS };
      expect(await create()).toEqual({ limit: 'endpoints', tier: 'FREE' });
      expect(await store.changeEndpoint(id, { favorite })).toEqual({ limit: 'favorites', tier: 'FREE' });
      await lock(user.id, 'me');
      await store.applySubscription(user.id, 'me', someSubscription(), { now: T0, nextCheckAt: T0 + 1 });
      expect(await create()).toMatchObject({ expiresAt: T0 + PLANS.BASIC.expiryMs });
      expect(await store.changeEndpoint(id, { favorite })).toMatchObject({ isFavorite: true });
    });

    test('an event is handled once', async () => {
      const event = { id: unique('evt'), type: 'invoice.paid', receivedAt: T0 };
      expect(await store.recordEvent(event)).toBe(false);
      expect(await store.recordEvent(event)).toBe(false);
      await store.finishEvent(event.id, T0);
      expect(await store.recordEvent(event)).toBe(true);
      await store.forgetEvents(T0);
      expect(await store.recordEvent(event)).toBe(true);
      await store.forgetEvents(T0 + 1);
      expect(await store.recordEvent(event)).toBe(false);
    });

    test('the first value of a setting stays until a call replaces it by name', async () => {
      const name = unique('setting');
      expect(await store.findBillingSetting(name)).toBeUndefined();
      expect(await store.keepBillingSetting(name, 'one')).toBe('one');
      expect(await store.keepBillingSetting(name, 'two')).toBe('one');
      expect(await store.keepBillingSetting(name, 'two', 'other')).toBe('one');
      expect(await store.keepBillingSetting(name, 'two', 'one')).toBe('two');
    });

    test('each mail is claimed by one of five, with its user, until it is released or the claim ends', async () => {
      const user = await notifiedUser(store, { emailNotifySubscription: true });
      await lock(user.id, 'me');
      await store.applySubscription(user.id, 'me', someSubscription(), { now: T0, nextCheckAt: T0 + 1 });
      const claims = await Promise.all(Array.from({ length: 5 }, () => store.claimMail(DAY)));
      const claimed = claims.filter((mail) => mail !== undefined);
      expect(claimed.map((mail) => mail.user.id)).toEqual([user.id]);
      expect(await store.claimMail(DAY)).toBeUndefined();
      const id = claimed[0]?.id ?? 0;
      await store.releaseMail(id, 0);
      // The second claim is due when the first one has ended.
      for (const claimMs of [0, DAY]) expect((await store.claimMail(claimMs))?.id).toBe(id);
      await store.releaseMail(id, DAY);
      expect(await store.claimMail(DAY)).toBeUndefined();
      await store.releaseMail(id, 0);
      await store.deleteUser(user.id);
      expect(await store.claimMail(DAY)).toBeUndefined();
    });
  });
}
