import { DEFAULT_USER_SETTINGS } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import type { ProvenIdentity } from './identity-queries.ts';
import type { NewUser } from './queries.ts';
import type { SessionRecord, UserRecord } from '../../database/records.ts';
import type { AppStore } from '../../queries.ts';
import { T0, someEndpoint, someUser, unique } from '../../../test/store-world.ts';

const HOUR = 3_600_000;

function newUser(details: Partial<NewUser> = {}): NewUser {
  return {
    username: unique('name'),
    email: `${unique('mail')}@example.com`,
    emailVerified: true,
    passwordHash: null,
    displayName: null,
    subscriptionTier: 'FREE',
    settings: DEFAULT_USER_SETTINGS,
    createdAt: T0,
    ...details,
  };
}

async function openSession(store: AppStore, user: UserRecord, details: Partial<SessionRecord> = {}): Promise<string> {
  const token = unique('token');
  const session = {
    id: unique('session'),
    userId: user.id,
    createdAt: T0,
    lastSeenAt: T0,
    expiresAt: T0 + HOUR,
    userAgent: '',
    ip: '',
  };
  expect(await store.createSession(token, { ...session, ...details }, user.passwordHash)).toBe(true);
  return token;
}

const isOpen = async (store: AppStore, token: string): Promise<boolean> =>
  (await store.findSession(token, T0)) !== undefined;

/** Changes of a user: name, password, settings, and deletion. */
function personSuite(open: () => AppStore): void {
  describe('a user', () => {
    test('is found by email in any case', async () => {
      const user = await someUser(open());
      expect(await open().findUserByEmail(user.email.toUpperCase())).toEqual(user);
      expect(await open().findUserByEmail(unique('nobody@x.test'))).toBeUndefined();
    });

    test.each([
      ['ΝΟΣ', 'νοσ'],
      ['ΝΟΣ', 'νος'],
      ['ǰab', 'J\u030cab'],
      ['straße', 'STRASSE'],
      ['straße', 'STRAẞE'],
      ['STRAẞE', 'strasse'],
    ])('is called %s, and nobody else %s', async (one, two) => {
      const end = unique('name');
      const user = await someUser(open(), { username: one + end });
      expect((await open().findUserByName(two + end.toUpperCase()))?.id).toBe(user.id);
      const other = await someUser(open());
      expect(await open().renameUser(other.id, two + end)).toBe('taken');
    });

    test('is renamed, unless the name is taken or the user does not exist; the case alone may change', async () => {
      const [one, two] = [await someUser(open()), await someUser(open())];
      const username = unique('renamed');
      expect(await open().renameUser(one.id, username)).toEqual({ ...one, username });
      expect(await open().findUserByName(one.username)).toBeUndefined();
      expect(await open().renameUser(two.id, username.toUpperCase())).toBe('taken');
      expect(await open().renameUser(one.id, username.toUpperCase())).toMatchObject({
        username: username.toUpperCase(),
      });
      expect(await open().renameUser(2_000_000_000, unique('name'))).toBeUndefined();
    });

    test('of twenty users who want one name at once, one gets it', async () => {
      const people = await Promise.all(Array.from({ length: 20 }, () => someUser(open())));
      const username = unique('wanted');
      const results = await Promise.all(people.map(({ id }) => open().renameUser(id, username)));
      expect(results.filter((result) => result === 'taken')).toHaveLength(19);
    });

    test('gets a new password only while the old one is the expected one', async () => {
      const user = await someUser(open(), { passwordHash: null });
      expect(await open().replacePassword(user.id, 'another', 'new')).toBe(false);
      expect(await open().replacePassword(user.id, null, 'first')).toBe(true);
      expect(await open().replacePassword(user.id, null, 'second')).toBe(false);
      expect(await open().replacePassword(user.id, 'first', 'second')).toBe(true);
      expect((await open().findUser(user.id))?.passwordHash).toBe('second');
    });

    test('with a new password loses older reset links; other links and other users keep theirs', async () => {
      const [user, other] = [await someUser(open()), await someUser(open())];
      const [reset, verify, theirs] = [unique('link'), unique('link'), unique('link')];
      await open().createMailToken(reset, user.id, 'reset', T0 + HOUR);
      await open().createMailToken(verify, user.id, 'verify', T0 + HOUR);
      await open().createMailToken(theirs, other.id, 'reset', T0 + HOUR);
      expect(await open().replacePassword(user.id, 'not the present one', 'new')).toBe(false);
      expect(await open().findMailToken(reset, 'reset', T0)).toBeDefined();
      expect(await open().replacePassword(user.id, user.passwordHash, 'new')).toBe(true);
      expect(await open().findMailToken(reset, 'reset', T0)).toBeUndefined();
      expect(await open().findMailToken(verify, 'verify', T0)).toBeDefined();
      expect(await open().findMailToken(theirs, 'reset', T0)).toBeDefined();
    });

    test('keeps settings', async () => {
      const user = await someUser(open());
      const settings = {
        autoSaveNewEndpoints: true,
        emailNotifyExpiry: true,
        emailNotifySubscription: false,
        email: 'ø@example.com',
      };
      expect(await open().replaceSettings(user.id, user.settings, settings)).toBe(true);
      expect((await open().findUser(user.id))?.settings).toEqual(settings);
      expect(await open().replaceSettings(user.id, user.settings, user.settings)).toBe(false);
      expect((await open().findUser(user.id))?.settings).toEqual(settings);
      expect(await open().replaceSettings(2_000_000_000, settings, settings)).toBe(false);
    });

    test('is deleted with sessions, endpoints, links and identities; others keep theirs', async () => {
      const identity = { issuer: 'https://issuer.test', subject: unique('sub') };
      const created = await open().createUser(newUser(), identity);
      if (!('user' in created)) throw new Error('taken');
      const { user } = created;
      const other = await someUser(open());
      const [token, others] = [await openSession(open(), user), await openSession(open(), other)];
      const endpoints = [
        await someEndpoint(open(), { userId: user.id }),
        await someEndpoint(open(), { userId: user.id }),
      ];
      const kept = await someEndpoint(open(), { userId: other.id });
      const link = unique('link');
      await open().createMailToken(link, user.id, 'reset', T0 + HOUR);
      const gone = await open().deleteUser(user.id);
      expect(gone?.toSorted((a, b) => a - b)).toEqual(endpoints.map(({ id }) => id));
      expect(await open().deleteUser(user.id)).toBeUndefined();
      expect(await open().findUser(user.id)).toBeUndefined();
      expect(await isOpen(open(), token)).toBe(false);
      for (const { uid } of endpoints) expect(await open().findEndpoint(uid)).toBeUndefined();
      expect(await open().findMailToken(link, 'reset', T0)).toBeUndefined();
      expect(await open().findUserByIdentity(identity)).toBeUndefined();
      expect(await isOpen(open(), others)).toBe(true);
      expect(await open().findEndpoint(kept.uid)).toBeDefined();
    });
  });

  describe('sessions of a user', () => {
    test('valid ones are listed, newest first', async () => {
      const user = await someUser(open());
      await openSession(open(), user, { createdAt: T0 + 1, userAgent: 'second' });
      await openSession(open(), user, { createdAt: T0, userAgent: 'first' });
      await openSession(open(), user, { createdAt: T0 + 2, userAgent: 'third' });
      await openSession(open(), user, { expiresAt: T0 });
      await openSession(open(), await someUser(open()));
      const listed = await open().listSessions(user.id, T0);
      expect(listed.map(({ userAgent }) => userAgent)).toEqual(['third', 'second', 'first']);
    });

    test('all end except the given one, or all', async () => {
      const [user, other] = [await someUser(open()), await someUser(open())];
      const id = unique('session');
      const [one, two, theirs] = [
        await openSession(open(), user, { id }),
        await openSession(open(), user),
        await openSession(open(), other),
      ];
      await open().endSessions(user.id, id);
      expect([await isOpen(open(), one), await isOpen(open(), two), await isOpen(open(), theirs)]).toEqual([
        true,
        false,
        true,
      ]);
      await open().endSessions(user.id);
      expect([await isOpen(open(), one), await isOpen(open(), theirs)]).toEqual([false, true]);
    });

    test('get a new token, and the old one becomes invalid', async () => {
      const user = await someUser(open());
      const id = unique('session');
      const [before, after] = [await openSession(open(), user, { id }), unique('token')];
      expect(await open().renewSession(id, after)).toBe(true);
      expect([await isOpen(open(), before), await isOpen(open(), after)]).toEqual([false, true]);
      expect(await open().renewSession(unique('session'), unique('token'))).toBe(false);
    });
  });
}

/** Third-party identities and mailed links. */
export function accountLinksSuite(open: () => AppStore): void {
  personSuite(open);

  describe('identities', () => {
    const someIdentity = () => ({ issuer: 'https://issuer.test', subject: unique('sub') });

    test('create a linked user, or none at all', async () => {
      const identity = someIdentity();
      const user = newUser();
      expect(await open().createUser(user, identity)).toMatchObject({ user: { username: user.username } });
      const second = newUser();
      expect(await open().createUser(second, identity)).toEqual({ taken: ['identity'] });
      expect(await open().findUserByName(second.username)).toBeUndefined();
      expect(await open().createUser(user, someIdentity())).toEqual({ taken: ['username', 'email'] });
    });

    test('are found by issuer and subject together', async () => {
      const identity = someIdentity();
      const created = await open().createUser(newUser(), identity);
      expect({ user: await open().findUserByIdentity(identity) }).toEqual(created);
      expect(await open().findUserByIdentity({ ...identity, issuer: 'https://other.test' })).toBeUndefined();
      expect(await open().findUserByIdentity({ ...identity, subject: identity.subject.toUpperCase() })).toBeUndefined();
    });

    test('are linked to the user with that verified email only', async () => {
      const [yes, no] = [
        await someUser(open(), { emailVerified: true }),
        await someUser(open(), { emailVerified: false }),
      ];
      const identity = someIdentity();
      expect(await open().linkIdentity(identity, no.email, T0)).toBe(false);
      expect(await open().linkIdentity(identity, unique('nobody@x.test'), T0)).toBe(false);
      expect(await open().linkIdentity(identity, yes.email.toUpperCase(), T0)).toBe(true);
      expect((await open().findUserByIdentity(identity))?.id).toBe(yes.id);
      const other = await someUser(open(), { emailVerified: true });
      expect(await open().linkIdentity(identity, other.email, T0)).toBe(false);
      expect((await open().findUserByIdentity(identity))?.id).toBe(yes.id);
    });

    test('are kept after proof until they expire or are used; of twenty parallel uses one succeeds', async () => {
      const proven: ProvenIdentity = {
        ...someIdentity(),
        email: 'Å@example.com',
        emailVerified: true,
        displayName: 'Å 🦀',
      };
      const [handle, nameless] = [unique('handle'), unique('handle')];
      await open().storeProvenIdentity(handle, proven, T0 + 10);
      await open().storeProvenIdentity(
        nameless,
        { ...proven, email: null, emailVerified: false, displayName: null },
        T0 + 10,
      );
      expect(await open().findProvenIdentity(handle, T0 + 9)).toEqual(proven);
      expect(await open().findProvenIdentity(nameless, T0)).toMatchObject({
        email: null,
        emailVerified: false,
        displayName: null,
      });
      expect(await open().findProvenIdentity(handle, T0 + 10)).toBeUndefined();
      const uses = await Promise.all(Array.from({ length: 20 }, () => open().consumeProvenIdentity(handle)));
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await open().findProvenIdentity(handle, T0)).toBeUndefined();
    });
  });

  describe('mailed links', () => {
    async function link(user: UserRecord, purpose: 'reset' | 'verify' = 'reset'): Promise<string> {
      const token = unique('link');
      await open().createMailToken(token, user.id, purpose, T0 + 10);
      return token;
    }

    test('are valid until they expire, for their own purpose, and are then removed', async () => {
      const user = await someUser(open());
      const token = await link(user);
      expect(await open().findMailToken(token, 'reset', T0 + 9)).toEqual(user);
      expect(await open().findMailToken(token, 'reset', T0 + 10)).toBeUndefined();
      expect(await open().findMailToken(token, 'verify', T0)).toBeUndefined();
      expect(await open().resetPassword(token, 'new', T0 + 10)).toBeUndefined();
      await open().deleteStaleAccountRows(T0 + 9);
      expect(await open().findMailToken(token, 'reset', T0)).toEqual(user);
      await open().deleteStaleAccountRows(T0 + 10);
      expect(await open().findMailToken(token, 'reset', T0)).toBeUndefined();
      await open().createMailToken(unique('link'), 2_000_000_000, 'reset', T0 + 10);
    });

    test('are valid side by side; a used one ends those of its purpose', async () => {
      const user = await someUser(open());
      const [first, other, second] = [await link(user, 'verify'), await link(user), await link(user, 'verify')];
      expect(await open().findMailToken(first, 'verify', T0)).toBeDefined();
      expect(await open().verifyEmail(second, user.id, T0)).toBe(true);
      expect(await open().findMailToken(first, 'verify', T0)).toBeUndefined();
      expect(await open().findMailToken(other, 'reset', T0)).toBeDefined();
    });

    test('set a password once, of twenty parallel calls, and end all other access', async () => {
      const user = await someUser(open(), { emailVerified: true, passwordHash: 'old' });
      const identity = { issuer: 'https://issuer.test', subject: unique('sub') };
      await open().linkIdentity(identity, user.email, T0);
      const [session, token, verification] = [
        await openSession(open(), user),
        await link(user),
        await link(user, 'verify'),
      ];
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => open().resetPassword(token, `new ${n}`, T0)),
      );
      const winners = results.flatMap((result) => (result === undefined ? [] : [result]));
      expect(winners).toHaveLength(1);
      expect(await open().findUser(user.id)).toEqual(winners[0]);
      expect(winners[0]?.passwordHash).toMatch(/^new \d+$/);
      expect(await isOpen(open(), session)).toBe(false);
      expect(await open().findUserByIdentity(identity)).toBeUndefined();
      expect(await open().findMailToken(verification, 'verify', T0)).toBeUndefined();
    });

    test('for a new password verify the address too', async () => {
      const user = await someUser(open(), { emailVerified: false });
      expect(await open().resetPassword(await link(user), 'new', T0)).toMatchObject({
        id: user.id,
        emailVerified: true,
      });
    });

    test('for a new password reset the address for notices, and keep the other settings', async () => {
      const settings = { ...DEFAULT_USER_SETTINGS, emailNotifyExpiry: true, email: 'elsewhere@example.com' };
      const user = await someUser(open(), { settings });
      const changed = await open().resetPassword(await link(user), 'new', T0);
      expect(changed?.settings).toEqual({ ...settings, email: user.email });
      expect(await open().findUser(user.id)).toEqual(changed);
    });

    test('are clicked while the account is deleted: no deadlock', async () => {
      const rounds = Array.from({ length: 40 }, async () => {
        const user = await someUser(open());
        const token = await link(user, 'verify');
        return Promise.all([open().verifyEmail(token, user.id, T0), open().deleteUser(user.id)]);
      });
      for (const [, gone] of await Promise.all(rounds)) expect(gone).toEqual([]);
    });

    test('verify the address of the user they were mailed to, once, of twenty parallel calls', async () => {
      const [user, other] = [await someUser(open(), { emailVerified: false }), await someUser(open())];
      const token = await link(user, 'verify');
      expect(await open().verifyEmail(token, other.id, T0)).toBe(false);
      expect(await open().verifyEmail(await link(user), user.id, T0)).toBe(false);
      expect(await open().verifyEmail(token, user.id, T0 + 10)).toBe(false);
      const results = await Promise.all(Array.from({ length: 20 }, () => open().verifyEmail(token, user.id, T0)));
      expect(results.filter(Boolean)).toHaveLength(1);
      expect((await open().findUser(user.id))?.emailVerified).toBe(true);
    });
  });
}
