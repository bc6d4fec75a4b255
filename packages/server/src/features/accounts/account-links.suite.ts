import { DEFAULT_USER_SETTINGS } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import type { ProvenIdentity } from './identity-queries.ts';
import type { SessionRecord, UserRecord } from '../../database/records.ts';
import type { AppStore } from '../../queries.ts';
import { T0, newUser, someEndpoint, someSession, someUser, unique } from '../../../test/store-world.ts';

const HOUR = 3_600_000;

async function openSession(store: AppStore, user: UserRecord, details: Partial<SessionRecord> = {}): Promise<string> {
  const token = unique('token');
  expect(await store.createSession(token, someSession(user.id, details), user.passwordHash)).toEqual([]);
  return token;
}

const isOpen = async (store: AppStore, token: string): Promise<boolean> =>
  (await store.findSession(token, T0)) !== undefined;

/** Changes of a user: name, password, settings, and deletion. */
function personSuite(store: AppStore): void {
  describe('a user', () => {
    test('is found by email in any case', async () => {
      const user = await someUser(store);
      expect(await store.findUserByEmail(user.email.toUpperCase())).toEqual(user);
      expect(await store.findUserByEmail(unique('nobody@x.test'))).toBeUndefined();
    });

    test.each([
      ['ΝΟΣ', 'νοσ'],
      ['ΝΟΣ', 'νος'],
      ['ǰab', 'J\u030cab'],
      ['straße', 'STRASSE'],
      ['straße', 'STRAẞE'],
      ['STRAẞE', 'strasse'],
    ])('has the name %s, so that no other user can have %s', async (one, two) => {
      const end = unique('name');
      const user = await someUser(store, { username: one + end });
      expect((await store.findUserByName(two + end.toUpperCase()))?.id).toBe(user.id);
      const other = await someUser(store);
      expect(await store.renameUser(other.id, two + end)).toBe('taken');
    });

    test('is renamed, unless the name is taken or the user does not exist; the case alone may change', async () => {
      const [one, two] = [await someUser(store), await someUser(store)];
      const username = unique('renamed');
      expect(await store.renameUser(one.id, username)).toEqual({ ...one, username });
      expect(await store.findUserByName(one.username)).toBeUndefined();
      expect(await store.renameUser(two.id, username.toUpperCase())).toBe('taken');
      expect(await store.renameUser(one.id, username.toUpperCase())).toMatchObject({
        username: username.toUpperCase(),
      });
      expect(await store.renameUser(2_000_000_000, unique('name'))).toBeUndefined();
    });

    test('of twenty users who want one name at once, one gets it', async () => {
      const people = await Promise.all(Array.from({ length: 20 }, () => someUser(store)));
      const username = unique('wanted');
      const results = await Promise.all(people.map(({ id }) => store.renameUser(id, username)));
      expect(results.filter((result) => result === 'taken')).toHaveLength(19);
    });

    test('gets a new password only while the old one is the expected one', async () => {
      const user = await someUser(store, { passwordHash: null });
      expect(await store.replacePassword(user.id, 'another', 'new')).toBe(false);
      expect(await store.replacePassword(user.id, null, 'first')).toBe(true);
      expect(await store.replacePassword(user.id, null, 'second')).toBe(false);
      expect(await store.replacePassword(user.id, 'first', 'second')).toBe(true);
      expect((await store.findUser(user.id))?.passwordHash).toBe('second');
    });

    test('with a new password loses older reset links; other links and other users keep theirs', async () => {
      const [user, other] = [await someUser(store), await someUser(store)];
      const [reset, verify, theirs] = [unique('link'), unique('link'), unique('link')];
      await store.createMailToken(reset, user.id, 'reset', T0 + HOUR);
      await store.createMailToken(verify, user.id, 'verify', T0 + HOUR);
      await store.createMailToken(theirs, other.id, 'reset', T0 + HOUR);
      expect(await store.replacePassword(user.id, 'not the present one', 'new')).toBe(false);
      expect(await store.findMailToken(reset, 'reset', T0)).toBeDefined();
      expect(await store.replacePassword(user.id, user.passwordHash, 'new')).toBe(true);
      expect(await store.findMailToken(reset, 'reset', T0)).toBeUndefined();
      expect(await store.findMailToken(verify, 'verify', T0)).toBeDefined();
      expect(await store.findMailToken(theirs, 'reset', T0)).toBeDefined();
    });

    test('keeps settings', async () => {
      const first = { ...DEFAULT_USER_SETTINGS, email: 'ø@example.com' };
      const user = await someUser(store, { subscriptionTier: 'BASIC', settings: first });
      expect((await store.findUser(user.id))?.settings).toEqual(first);
      const settings = {
        autoSaveNewEndpoints: true,
        emailNotifyExpiry: true,
        emailNotifySubscription: false,
        email: 'o@example.com',
      };
      const { email, ...others } = settings;
      expect(await store.changeSettings(user.id, { email })).toEqual({ ...user.settings, email });
      expect(await store.changeSettings(user.id, others)).toEqual(settings);
      expect((await store.findUser(user.id))?.settings).toEqual(settings);
      expect(await store.changeSettings(user.id, { email: 'nobody' })).toEqual({ refused: 'email' });
      expect((await store.findUser(user.id))?.settings).toEqual(settings);
      expect(await store.changeSettings(2_000_000_000, settings)).toBeUndefined();
    });

    test('is deleted with sessions, endpoints, links and identities; others keep theirs', async () => {
      const identity = { issuer: 'https://issuer.test', subject: unique('sub') };
      const created = await store.createUser(newUser(), identity);
      if (!('user' in created)) throw new Error('taken');
      const { user } = created;
      const other = await someUser(store);
      const [token, others] = [await openSession(store, user), await openSession(store, other)];
      const endpoints = [
        await someEndpoint(store, { userId: user.id }),
        await someEndpoint(store, { userId: user.id }),
      ];
      const kept = await someEndpoint(store, { userId: other.id });
      const link = unique('link');
      await store.createMailToken(link, user.id, 'reset', T0 + HOUR);
      const gone = await store.deleteUser(user.id);
      expect(gone?.toSorted((a, b) => a - b)).toEqual(endpoints.map(({ id }) => id));
      expect(await store.deleteUser(user.id)).toBeUndefined();
      expect(await store.findUser(user.id)).toBeUndefined();
      expect(await isOpen(store, token)).toBe(false);
      for (const { uid } of endpoints) expect(await store.findEndpoint(uid)).toBeUndefined();
      expect(await store.findMailToken(link, 'reset', T0)).toBeUndefined();
      expect(await store.findUserByIdentity(identity)).toBeUndefined();
      expect(await isOpen(store, others)).toBe(true);
      expect(await store.findEndpoint(kept.uid)).toBeDefined();
    });
  });

  describe('sessions of a user', () => {
    test('valid ones are listed, newest first', async () => {
      const user = await someUser(store);
      await openSession(store, user, { createdAt: T0 + 1, userAgent: 'second' });
      await openSession(store, user, { createdAt: T0, userAgent: 'first' });
      await openSession(store, user, { createdAt: T0 + 2, userAgent: 'third' });
      await openSession(store, user, { expiresAt: T0 });
      await openSession(store, await someUser(store));
      const listed = await store.listSessions(user.id, T0);
      expect(listed.map(({ userAgent }) => userAgent)).toEqual(['third', 'second', 'first']);
    });

    test('all end except the given one, or all', async () => {
      const [user, other] = [await someUser(store), await someUser(store)];
      const id = unique('session');
      const [one, two, theirs] = [
        await openSession(store, user, { id }),
        await openSession(store, user),
        await openSession(store, other),
      ];
      await store.endSessions(user.id, id);
      expect([await isOpen(store, one), await isOpen(store, two), await isOpen(store, theirs)]).toEqual([
        true,
        false,
        true,
      ]);
      await store.endSessions(user.id);
      expect([await isOpen(store, one), await isOpen(store, theirs)]).toEqual([false, true]);
    });

    test('get a new token, and the old one becomes invalid', async () => {
      const user = await someUser(store);
      const id = unique('session');
      const [before, after] = [await openSession(store, user, { id }), unique('token')];
      expect(await store.renewSession(id, after)).toBe(true);
      expect([await isOpen(store, before), await isOpen(store, after)]).toEqual([false, true]);
      expect(await store.renewSession(unique('session'), unique('token'))).toBe(false);
    });
  });
}

/** Third-party identities and emailed links. */
export function accountLinksSuite(store: AppStore): void {
  personSuite(store);

  describe('identities', () => {
    const someIdentity = () => ({ issuer: 'https://issuer.test', subject: unique('sub') });

    test('create a linked user, or none at all', async () => {
      const identity = someIdentity();
      const user = newUser();
      expect(await store.createUser(user, identity)).toMatchObject({ user: { username: user.username } });
      const second = newUser();
      expect(await store.createUser(second, identity)).toEqual({ taken: ['identity'] });
      expect(await store.findUserByName(second.username)).toBeUndefined();
      expect(await store.createUser(user, someIdentity())).toEqual({ taken: ['username', 'email'] });
    });

    test('are found by issuer and subject together', async () => {
      const identity = someIdentity();
      const created = await store.createUser(newUser(), identity);
      expect({ user: await store.findUserByIdentity(identity) }).toEqual(created);
      expect(await store.findUserByIdentity({ ...identity, issuer: 'https://other.test' })).toBeUndefined();
      expect(await store.findUserByIdentity({ ...identity, subject: identity.subject.toUpperCase() })).toBeUndefined();
    });

    test('are linked to the user with that verified email only', async () => {
      const [yes, no] = [
        await someUser(store, { emailVerified: true }),
        await someUser(store, { emailVerified: false }),
      ];
      const identity = someIdentity();
      expect(await store.linkIdentity(identity, no.email, T0)).toBe(false);
      expect(await store.linkIdentity(identity, unique('nobody@x.test'), T0)).toBe(false);
      expect(await store.linkIdentity(identity, yes.email.toUpperCase(), T0)).toBe(true);
      expect((await store.findUserByIdentity(identity))?.id).toBe(yes.id);
      const other = await someUser(store, { emailVerified: true });
      expect(await store.linkIdentity(identity, other.email, T0)).toBe(false);
      expect((await store.findUserByIdentity(identity))?.id).toBe(yes.id);
    });

    test('are kept after proof until they expire or are used; of twenty parallel uses one succeeds', async () => {
      const proven: ProvenIdentity = {
        ...someIdentity(),
        email: 'Å@example.com',
        emailVerified: true,
        displayName: 'Å 🦀',
      };
      const [handle, nameless] = [unique('handle'), unique('handle')];
      await store.storeProvenIdentity(handle, proven, T0 + 10);
      await store.storeProvenIdentity(
        nameless,
        { ...proven, email: null, emailVerified: false, displayName: null },
        T0 + 10,
      );
      expect(await store.findProvenIdentity(handle, T0 + 9)).toEqual(proven);
      expect(await store.findProvenIdentity(nameless, T0)).toMatchObject({
        email: null,
        emailVerified: false,
        displayName: null,
      });
      expect(await store.findProvenIdentity(handle, T0 + 10)).toBeUndefined();
      const uses = await Promise.all(Array.from({ length: 20 }, () => store.consumeProvenIdentity(handle)));
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await store.findProvenIdentity(handle, T0)).toBeUndefined();
    });
  });

  describe('mailed links', () => {
    async function link(user: UserRecord, purpose: 'reset' | 'verify' = 'reset'): Promise<string> {
      const token = unique('link');
      await store.createMailToken(token, user.id, purpose, T0 + 10);
      return token;
    }

    test('are valid until they expire, for their own purpose, and are then removed', async () => {
      const user = await someUser(store);
      const token = await link(user);
      expect(await store.findMailToken(token, 'reset', T0 + 9)).toEqual(user);
      expect(await store.findMailToken(token, 'reset', T0 + 10)).toBeUndefined();
      expect(await store.findMailToken(token, 'verify', T0)).toBeUndefined();
      expect(await store.resetPassword(token, 'new', T0 + 10)).toBeUndefined();
      await store.deleteStaleAccountRows(T0 + 9);
      expect(await store.findMailToken(token, 'reset', T0)).toEqual(user);
      await store.deleteStaleAccountRows(T0 + 10);
      expect(await store.findMailToken(token, 'reset', T0)).toBeUndefined();
      // A user who is gone: no error.
      await store.createMailToken(unique('link'), 2_000_000_000, 'reset', T0 + 10);
    });

    test('are valid side by side; a used one ends those of its purpose', async () => {
      const user = await someUser(store);
      const [first, other, second] = [await link(user, 'verify'), await link(user), await link(user, 'verify')];
      expect(await store.findMailToken(first, 'verify', T0)).toBeDefined();
      expect(await store.verifyEmail(second, user.id, T0)).toBe(true);
      expect(await store.findMailToken(first, 'verify', T0)).toBeUndefined();
      expect(await store.findMailToken(other, 'reset', T0)).toBeDefined();
    });

    test('set a password once, of twenty parallel calls, and end all other access', async () => {
      const user = await someUser(store, { emailVerified: true, passwordHash: 'old' });
      const identity = { issuer: 'https://issuer.test', subject: unique('sub') };
      await store.linkIdentity(identity, user.email, T0);
      const [session, token, verification] = [
        await openSession(store, user),
        await link(user),
        await link(user, 'verify'),
      ];
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => store.resetPassword(token, `new ${n}`, T0)),
      );
      const winners = results.flatMap((result) => (result === undefined ? [] : [result]));
      expect(winners).toHaveLength(1);
      expect(await store.findUser(user.id)).toEqual(winners[0]);
      expect(winners[0]?.passwordHash).toMatch(/^new \d+$/);
      expect(await isOpen(store, session)).toBe(false);
      expect(await store.findUserByIdentity(identity)).toBeUndefined();
      expect(await store.findMailToken(verification, 'verify', T0)).toBeUndefined();
    });

    test('for a new password verify the address too', async () => {
      const user = await someUser(store, { emailVerified: false });
      expect(await store.resetPassword(await link(user), 'new', T0)).toMatchObject({
        id: user.id,
        emailVerified: true,
      });
    });

    test('for a new password reset the address for notices, and keep the other settings', async () => {
      const settings = { ...DEFAULT_USER_SETTINGS, emailNotifyExpiry: true, email: 'elsewhere@example.com' };
      const user = await someUser(store, { settings });
      const changed = await store.resetPassword(await link(user), 'new', T0);
      expect(changed?.settings).toEqual({ ...settings, email: user.email });
      expect(await store.findUser(user.id)).toEqual(changed);
    });

    test('are clicked while the account is deleted: no deadlock', async () => {
      const rounds = Array.from({ length: 40 }, async () => {
        const user = await someUser(store);
        const token = await link(user, 'verify');
        return Promise.all([store.verifyEmail(token, user.id, T0), store.deleteUser(user.id)]);
      });
      for (const [, gone] of await Promise.all(rounds)) expect(gone).toEqual([]);
    });

    test('verify the address of the user they were mailed to, once, of twenty parallel calls', async () => {
      const [user, other] = [await someUser(store, { emailVerified: false }), await someUser(store)];
      const token = await link(user, 'verify');
      expect(await store.verifyEmail(token, other.id, T0)).toBe(false);
      expect(await store.verifyEmail(await link(user), user.id, T0)).toBe(false);
      expect(await store.verifyEmail(token, user.id, T0 + 10)).toBe(false);
      const results = await Promise.all(Array.from({ length: 20 }, () => store.verifyEmail(token, user.id, T0)));
      expect(results.filter(Boolean)).toHaveLength(1);
      expect((await store.findUser(user.id))?.emailVerified).toBe(true);
    });
  });
}
