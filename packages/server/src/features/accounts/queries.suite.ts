import { describe, expect, test } from 'vitest';
import type { AppStore } from '../../queries.ts';
import { T0, newUser, someSession, someUser, unique } from '../../../test/store-world.ts';

/** Users and their sessions. */
export function accountsSuite(store: AppStore): void {
  describe('users', () => {
    test('a new one is found by id and by name, with all its fields', async () => {
      const details = { displayName: 'Ann Ønym 🦀', subscriptionTier: 'PREMIUM', emailVerified: true } as const;
      const created = await someUser(store, { ...details, passwordHash: null });
      expect(created).toMatchObject({
        ...details,
        passwordHash: null,
        createdAt: T0,
        subscriptionEndAt: null,
        billingInterval: null,
        stripeCustomerId: null,
        stripeSubscriptionId: null,
      });
      expect(await store.findUser(created.id)).toEqual(created);
      expect(await store.findUserByName(created.username)).toEqual(created);
    });

    test('unknown ids and names find no user', async () => {
      expect(await store.findUser(2_000_000_000)).toBeUndefined();
      expect(await store.findUserByName(unique('nobody'))).toBeUndefined();
    });

    test('names are equal in any case and compatibility form, and are stored as typed', async () => {
      const name = unique('Straße');
      const user = await someUser(store, { username: name });
      expect(user.username).toBe(name);
      for (const other of [name.toUpperCase().replace('STRASSE', 'STRAßE'), name.replace('S', 'ｓ')]) {
        expect((await store.findUserByName(other))?.id).toBe(user.id);
      }
    });

    test('taken values are named: the name, the address, or both, in any case', async () => {
      const first = await someUser(store);
      const again = (username: string, email: string) => store.createUser(newUser({ username, email }));
      expect(await again(first.username.toUpperCase(), unique('x@y.z'))).toEqual({ taken: ['username'] });
      expect(await again(unique('new'), first.email.toUpperCase())).toEqual({ taken: ['email'] });
      expect(await again(first.username, first.email)).toEqual({ taken: ['username', 'email'] });
      const other = await someUser(store);
      expect(await again(first.username, other.email)).toEqual({ taken: ['username', 'email'] });
    });

    test('of 20 who take the same name at once one succeeds', async () => {
      const username = unique('wanted');
      const tries = await Promise.allSettled(
        Array.from({ length: 20 }, () => someUser(store, { username, email: unique('mail') })),
      );
      expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    });
  });

  describe('sessions', () => {
    test('is found by its token with its user, until it expires', async () => {
      const user = await someUser(store);
      const session = someSession(user.id);
      const token = unique('token');
      const isOpen = async (id: string, at: number): Promise<boolean> =>
        (await store.readWatched([id], [0], at)).openSessions.length === 1;
      await store.createSession(token, session, 'hash');
      expect(await store.findSession(token, T0)).toEqual({ session, user });
      expect(await store.findSession(token, T0 + 999)).toBeDefined();
      expect(await store.findSession(token, T0 + 1000)).toBeUndefined();
      expect(await isOpen(session.id, T0 + 999)).toBe(true);
      expect(await isOpen(session.id, T0 + 1000)).toBe(false);
      expect(await store.findSession(unique('token'), T0)).toBeUndefined();
      expect(await isOpen(unique('session'), T0)).toBe(false);
    });

    test('is not started with a changed password, or without a user', async () => {
      const { id } = await someUser(store);
      expect(await store.createSession(unique('token'), someSession(id), 'another hash')).toBeUndefined();
      expect(await store.createSession(unique('token'), someSession(id), null)).toBeUndefined();
      expect(await store.createSession(unique('token'), someSession(2_000_000_000), 'hash')).toBeUndefined();
    });

    test('is extended by use', async () => {
      const token = unique('token');
      await store.createSession(token, someSession((await someUser(store)).id), 'hash');
      await store.touchSession(token, T0 + 500, T0 + 5000);
      expect((await store.findSession(token, T0 + 4999))?.session).toMatchObject({
        createdAt: T0,
        lastSeenAt: T0 + 500,
        expiresAt: T0 + 5000,
      });
      // A session that has ended: no error.
      await store.touchSession(unique('token'), T0, T0);
    });

    test('ended, returns its public id, once', async () => {
      const session = someSession((await someUser(store)).id);
      const token = unique('token');
      await store.createSession(token, session, 'hash');
      expect(await store.endSession(token)).toBe(session.id);
      expect(await store.endSession(token)).toBeUndefined();
      expect(await store.findSession(token, T0)).toBeUndefined();
    });

    test('expired ones are removed, valid ones stay', async () => {
      const user = await someUser(store);
      const [before, now, after] = [unique('token'), unique('token'), unique('token')];
      await store.createSession(before, someSession(user.id, { expiresAt: T0 - 1 }), 'hash');
      await store.createSession(now, someSession(user.id, { expiresAt: T0 }), 'hash');
      await store.createSession(after, someSession(user.id, { expiresAt: T0 + 1 }), 'hash');
      await store.deleteStaleAccountRows(T0);
      expect(await store.endSession(before)).toBeUndefined();
      expect(await store.endSession(now)).toBeUndefined();
      expect(await store.endSession(after)).toBeDefined();
    });
  });
}
