import { afterAll, describe, expect, test } from 'vitest';
import { tokenHash } from '../../secrets.ts';
import { MAX_SESSIONS } from './token-queries.ts';
import type { TestClient } from '../../../test/test-client.ts';
import { openLive, shows } from '../../../test/live-viewer.ts';
import type { LiveViewer } from '../../../test/live-viewer.ts';
import { someSession, someUser } from '../../../test/store-world.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestPerson } from '../../../test/test-server.ts';

const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM', SIGNUPS_PER_HOUR: '10000' } });
afterAll(() => server.stop());

/** The same user in another browser. */
async function elsewhere({ user, password }: TestPerson): Promise<TestClient> {
  const client = server.visitor({ 'user-agent': 'Another browser' });
  await client.call('login', { body: { username: user.username, password } });
  return client;
}

async function watch(client: TestClient, uid: string): Promise<LiveViewer> {
  const viewer = await openLive(client, uid);
  await viewer.until((messages) => messages.length > 0);
  return viewer;
}

const statusOf = async (client: TestClient) => (await client.answerTo('/api/user')).status;

describe('the username', () => {
  const rename = (client: TestClient, username: unknown) =>
    client.answerTo('/api/profile/username', { method: 'PUT', json: { username } });

  test('is changed, trimmed, and used at the next login', async () => {
    const person = await server.register();
    const username = `${person.user.username}-new`;
    expect(await rename(person.client, `  ${username} `)).toMatchObject({
      status: 200,
      body: { id: person.user.id, username },
    });
    await expect(elsewhere(person)).rejects.toMatchObject({ status: 401 });
    await elsewhere({ ...person, user: { ...person.user, username } });
  });

  test("may change its case alone, and may not be another user's", async () => {
    const [one, two] = [await server.register(), await server.register()];
    expect((await rename(one.client, one.user.username.toUpperCase())).status).toBe(200);
    const sentence = 'Username already exists';
    expect(await rename(two.client, one.user.username)).toMatchObject({
      status: 400,
      body: { error: sentence, fields: { username: sentence } },
    });
    expect((await two.client.call('getUser', {})).username).toBe(two.user.username);
  });

  test('taken names can be tried ten times as often as accounts can be created', async () => {
    await using strict = await startTestServer({ settings: { SIGNUPS_PER_HOUR: '2' } });
    const [one, two] = [await strict.register(), await strict.register()];
    for (let nth = 0; nth < 20; nth += 1) expect((await rename(two.client, one.user.username)).status).toBe(400);
    expect(await rename(two.client, one.user.username)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  });

  test.each([['ab'], ['   '], [''], [undefined], [null]])('refuses %j', async (username) => {
    const { client } = await server.register();
    expect(await rename(client, username)).toMatchObject({
      status: 400,
      body: { fields: { username: 'Username must be at least 3 characters' } },
    });
  });

  test('wanted by twenty at once, goes to one', async () => {
    const people = await Promise.all(Array.from({ length: 20 }, () => server.register()));
    const answers = await Promise.all(people.map(({ client }) => rename(client, `wanted-${people[0]?.user.id}`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 400)]);
  });
});

describe('the password', () => {
  const change = (
    client: TestClient,
    currentPassword: unknown,
    newPassword: unknown,
    confirmPassword: unknown = newPassword,
  ) =>
    client.answerTo('/api/profile/password', {
      method: 'PUT',
      json: { currentPassword, newPassword, confirmPassword },
    });

  test('is changed: other sessions and their sockets end within a second; this one continues with a new token', async () => {
    const person = await server.register();
    const other = await elsewhere(person);
    const { uid } = await person.client.call('createEndpoint', { body: {} });
    const [here, there] = [await watch(person.client, uid), await watch(other, uid)];
    const stolen = person.client.jar.header();
    expect(await change(person.client, person.password, 'a newer password')).toMatchObject({
      status: 200,
      body: { message: expect.any(String) },
    });
    expect(await there.closed).toBe(4401);
    await person.client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
    await here.until(shows(0));
    await here.close();
    expect([
      await statusOf(person.client),
      await statusOf(other),
      await statusOf(server.visitor({ cookie: stolen })),
    ]).toEqual([200, 401, 401]);
    await expect(elsewhere(person)).rejects.toMatchObject({ status: 401 });
    await elsewhere({ ...person, password: 'a newer password' });
  });

  test.each([
    [
      'a wrong current one',
      ['not my password', 'a newer password'],
      'currentPassword',
      'Current password is incorrect',
    ],
    ['a short new one', ['a good password', '12345'], 'newPassword', 'New password must be at least 6 characters long'],
    [
      'two that differ',
      ['a good password', 'a newer password', 'another'],
      'confirmPassword',
      'New passwords do not match',
    ],
    ['nothing new', ['a good password', ''], 'newPassword', 'All password fields are required'],
    ['nothing current', ['', 'a newer password'], 'currentPassword', 'All password fields are required'],
    ['no field at all', [undefined, 'a newer password'], 'currentPassword', 'All password fields are required'],
  ])('refuses %s at its field', async (_, [current, next, confirm], field, sentence) => {
    const { client } = await server.register();
    expect(await change(client, current, next, confirm)).toMatchObject({
      status: 400,
      body: { error: sentence, fields: { [field]: sentence } },
    });
    expect(await statusOf(client)).toBe(200);
  });

  test('can be guessed ten times with a stolen session', async () => {
    const { client, password } = await server.register();
    for (let n = 0; n < 10; n += 1)
      expect((await change(client, 'a wrong guess', 'a newer password')).status).toBe(400);
    expect((await change(client, password, 'a newer password')).status).toBe(429);
    expect((await client.answerTo('/api/user', { method: 'DELETE', json: { password } })).status).toBe(429);
  });

  test('of two parallel changes one succeeds', async () => {
    const person = await server.register();
    const other = await elsewhere(person);
    const answers = await Promise.all([
      change(person.client, person.password, 'the first new one'),
      change(other, person.password, 'the second new one'),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("does not exist: it can't be changed, and a fresh login replaces it", async () => {
    const user = await someUser(server.store, { email: 'none@example.com', passwordHash: null });
    const client = server.visitor();
    const logIn = async (id: string): Promise<void> => {
      const now = server.clock.now();
      const session = someSession(user.id, { createdAt: now, lastSeenAt: now, expiresAt: now + 3_600_000 });
      await server.store.createSession(tokenHash(id), session, null);
      client.jar.set('creel_session', id);
    };
    await logIn('a session of a while ago');
    const answer = await change(client, 'anything', 'a newer password');
    expect(answer).toMatchObject({
      status: 400,
      body: { fields: { currentPassword: expect.stringContaining('no password yet') } },
    });
    server.clock.advance(10 * 60_000 + 1);
    expect(await client.answerTo('/api/user', { method: 'DELETE', json: {} })).toMatchObject({
      status: 403,
      body: { code: 'SIGN_IN_AGAIN' },
    });
    await logIn('a session of just now');
    expect((await client.answerTo('/api/user', { method: 'DELETE', json: {} })).status).toBe(204);
  });
});

describe('sessions', () => {
  test('are listed newest first, this one marked, without secrets', async () => {
    const person = await server.register({}, { 'user-agent': 'First browser' });
    await elsewhere(person);
    const sessions = await person.client.call('listSessions', {});
    expect(sessions.map(({ userAgent, current, ip }) => [userAgent, current, ip])).toEqual([
      ['Another browser', false, '127.0.0.1'],
      ['First browser', true, '127.0.0.1'],
    ]);
    const token = person.client.jar.get('creel_session') ?? '';
    expect(JSON.stringify(sessions)).not.toContain(token);
    expect(JSON.stringify(sessions)).not.toContain(tokenHash(token));
  });

  test('all others end at once, with their sockets; other users keep theirs', async () => {
    const person = await server.register();
    const stranger = await server.register();
    const others = [await elsewhere(person), await elsewhere(person)];
    const { uid } = await person.client.call('createEndpoint', { body: {} });
    const views = await Promise.all(others.map((client) => watch(client, uid)));
    await person.client.call('endOtherSessions', {});
    expect(await Promise.all(views.map((view) => view.closed))).toEqual([4401, 4401]);
    expect(await Promise.all([...others, person.client, stranger.client].map(statusOf))).toEqual([401, 401, 200, 200]);
    expect(await person.client.call('listSessions', {})).toHaveLength(1);
  });
});

describe('too many sessions', () => {
  test('a login ends the one that was not used for the longest time, with its sockets', async () => {
    const person = await server.register();
    const { uid } = await person.client.call('createEndpoint', { body: {} });
    const view = await watch(person.client, uid);
    const { passwordHash = null } = (await server.store.findUser(person.user.id)) ?? {};
    server.clock.advance(1);
    for (let nth = 1; nth < MAX_SESSIONS; nth++) {
      const now = server.clock.now();
      const session = someSession(person.user.id, { createdAt: now, lastSeenAt: now, expiresAt: now + 3_600_000 });
      await server.store.createSession(tokenHash(`${uid} ${nth}`), session, passwordHash);
    }
    expect(await person.client.call('listSessions', {})).toHaveLength(MAX_SESSIONS);
    const newest = await elsewhere(person);
    expect(await view.closed).toBe(4401);
    expect([await statusOf(person.client), await statusOf(newest)]).toEqual([401, 200]);
    expect(await newest.call('listSessions', {})).toHaveLength(MAX_SESSIONS);
  });
});

describe('deleting the account', () => {
  const remove = (client: TestClient, json: object) => client.answerTo('/api/user', { method: 'DELETE', json });

  test('removes everything: user, sessions, endpoints, requests, sockets; the name is free again', async () => {
    const person = await server.register();
    const other = await elsewhere(person);
    const { uid } = await person.client.call('createEndpoint', { body: {} });
    await person.client.send(`/h/${uid}`, { method: 'POST', body: 'a captured secret' });
    const view = await watch(other, uid);
    const answer = await remove(person.client, { password: person.password });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('clear-site-data')).toBe('"cache", "storage"');
    expect(person.client.jar.header()).toBe('');
    expect([4401, 4404]).toContain(await view.closed);
    expect([await statusOf(person.client), await statusOf(other)]).toEqual([401, 401]);
    expect((await person.client.send(`/h/${uid}`, { method: 'POST', body: 'after' })).status).toBe(404);
    expect(await server.store.findUser(person.user.id)).toBeUndefined();
    expect(await server.store.findEndpoint(uid)).toBeUndefined();
    const again = await server.register({ username: person.user.username, email: person.user.email });
    expect(again.user.id).not.toBe(person.user.id);
    expect(await again.client.call('listEndpoints', {})).toEqual([]);
  });

  test.each([
    [{}, 'Please enter your password'],
    [{ password: 'not my password' }, 'Password is incorrect'],
  ])('asks for the password: %j', async (json, sentence) => {
    const { client } = await server.register();
    expect(await remove(client, json)).toMatchObject({
      status: 400,
      body: { error: sentence, fields: { password: sentence } },
    });
    expect(await statusOf(client)).toBe(200);
  });
});
