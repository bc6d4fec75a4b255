import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { Passwords } from './passwords.ts';
import { tokenHash } from '../../secrets.ts';
import { CHEAP, standingClock, startTestServer } from '../../../test/test-server.ts';

const MINUTE = 60_000;
let people = 0;

const server = await startTestServer({ settings: { TRUST_PROXY: '127.0.0.1' } });
afterAll(() => server.stop());

const someone = () => {
  people += 1;
  return { username: `someone-${people}`, email: `someone-${people}@example.com`, password: 'a good password' };
};
const register = (json: object, client = server.visitor()) =>
  client.answerTo('/api/register', { method: 'POST', json });
const login = (json: object, client = server.visitor()) => client.answerTo('/api/login', { method: 'POST', json });
const WRONG = { status: 401, body: { error: 'Invalid username or password', code: 'INVALID_CREDENTIALS' } };

/** Passwords whose checks end later. */
class PasswordsWithPause extends Passwords {
  afterCheck = (): Promise<unknown> => Promise.resolve();

  override async verify(...check: Parameters<Passwords['verify']>): Promise<boolean> {
    const isRight = await super.verify(...check);
    await this.afterCheck();
    return isRight;
  }
}

describe('registering', () => {
  test('makes a user on the default plan, logged in, without anything of the password', async () => {
    const person = someone();
    const client = server.visitor();
    const answer = await register(person, client);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      username: person.username,
      email: person.email,
      subscriptionTier: 'FREE',
      emailVerified: false,
      thirdPartyOnly: false,
      settings: { email: person.email },
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/argon|password|hash/i);
    expect(await client.call('getUser', {})).toEqual(answer.body);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('trims the name and the address, and keeps their case', async () => {
    const { username, email, password } = someone();
    expect(
      (await register({ username: `  ${username.toUpperCase()} `, email: ` ${email.toUpperCase()} `, password })).body,
    ).toMatchObject({
      username: username.toUpperCase(),
      email: email.toUpperCase(),
    });
  });

  test.each([
    ['username', { username: 'ab' }, 'Username must be at least 3 characters'],
    ['username', { username: '  a  ' }, 'Username must be at least 3 characters'],
    ['username', { username: 'x'.repeat(41) }, 'Username must be at most 40 characters'],
    ['username', { username: 'p\u0430ypal' }, 'Username must not mix letters of different alphabets'],
    ['username', { username: 'zero\u200bwidth' }, 'Username must not contain control characters'],
    ['username', { username: 'new\nline' }, 'Username must not contain control characters'],
    ['username', { username: '\u3164\u3164\u3164' }, 'Username must not contain invisible characters'],
    ['username', { username: 'admin\ufe0f' }, 'Username must not contain invisible characters'],
    ['username', { username: 'half\ud83e' }, 'Username must not contain invisible characters'],
    ['username', { username: 7 }, 'Username must be at least 3 characters'],
    ['password', { password: '12345' }, 'Password must be at least 6 characters'],
    ['password', { password: undefined }, 'Password must be at least 6 characters'],
    ['password', { password: 'x'.repeat(1_000_000) }, 'Password must be at most 1024 characters'],
    ['password', { password: '\ud800half of one' }, 'Password must not contain half of a character'],
    ['email', { email: 'nobody' }, 'Please enter a valid email address'],
    ['email', { email: 'a@b.test\r\nBcc: c@d.test' }, 'Please enter a valid email address'],
    ['email', { email: '' }, 'Please enter a valid email address'],
  ])('refuses a bad %s at its field: %#', async (field, change, sentence) => {
    expect(await register({ ...someone(), ...change })).toMatchObject({
      status: 400,
      body: { error: sentence, message: sentence, code: 'VALIDATION_FAILED', fields: { [field]: sentence } },
    });
  });

  test('names each field that another account has, in any case', async () => {
    const first = someone();
    await register(first);
    const fresh = someone();
    const taken = { username: 'Username already exists', email: 'Email already exists' };
    expect(await register({ ...fresh, username: first.username.toUpperCase() })).toMatchObject({
      status: 400,
      body: { error: taken.username, fields: { username: taken.username } },
    });
    expect(await register({ ...fresh, email: first.email.toUpperCase() })).toMatchObject({
      status: 400,
      body: { error: taken.email, fields: { email: taken.email } },
    });
    expect(await register(first)).toMatchObject({ status: 400, body: { fields: taken } });
  });

  test('over a hundred taken names leave the address its registrations', async () => {
    const first = someone();
    await register(first);
    for (let nth = 0; nth < 110; nth += 1)
      expect((await register({ ...someone(), username: first.username })).status).toBe(400);
    expect((await register(someone())).status).toBe(201);
  });

  test('of twenty with one name at once, one gets it and the others get a field error', async () => {
    const { username, password } = someone();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => register({ username, password, email: someone().email })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
  });

  test('accepts any password: spaces, emoji, NUL, and each of 128 characters counts', async () => {
    for (const password of [' 🦀 \u0000 é and more ', `${'x'.repeat(127)}a`]) {
      const person = { ...someone(), password };
      await register(person);
      expect((await login(person)).status).toBe(200);
      expect((await login({ ...person, password: `${password.slice(0, -1)}b` })).status).toBe(401);
      expect((await login({ ...person, password: password.trim().slice(0, 72) })).status).toBe(401);
    }
  });
});

describe('SIGNUPS_PER_HOUR', () => {
  test('applies per address, counts only created accounts, and holds under parallel calls', async () => {
    await using own = await startTestServer({
      settings: { TRUST_PROXY: '127.0.0.1', SIGNUPS_PER_HOUR: '3' },
      clock: standingClock(),
    });
    const at = (address: string) => own.visitor({ 'x-forwarded-for': address });
    const first = someone();
    expect((await register(first, at('192.0.2.1'))).status).toBe(201);
    expect((await register(first, at('192.0.2.1'))).status).toBe(400);
    const answers = await Promise.all(Array.from({ length: 6 }, () => register(someone(), at('192.0.2.1'))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 429, 429, 429, 429]);
    const refused = await register(someone(), at('192.0.2.1'));
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', error: 'Too many attempts. Please try again in 60 minutes.' },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    expect((await register(someone(), at('192.0.2.2'))).status).toBe(201);
    own.clock.advance(60 * MINUTE);
    expect((await register(someone(), at('192.0.2.1'))).status).toBe(201);
  });

  test('limits attempts at taken names to ten times as many', async () => {
    await using own = await startTestServer({ settings: { TRUST_PROXY: '127.0.0.1', SIGNUPS_PER_HOUR: '1' } });
    const at = (address: string) => own.visitor({ 'x-forwarded-for': address });
    const first = someone();
    expect((await register(first, at('192.0.2.1'))).status).toBe(201);
    for (let nth = 0; nth < 10; nth += 1) expect((await register(first, at('192.0.2.2'))).status).toBe(400);
    // A free name gets the same answer, so that none is revealed.
    for (const each of [first, someone()]) expect((await register(each, at('192.0.2.2'))).status).toBe(429);
    expect((await register(someone(), at('192.0.2.3'))).status).toBe(201);
  });

  test('counts an IPv6 /64 network as one, and trusts only the proxy', async () => {
    const own = await startTestServer({ settings: { TRUST_PROXY: '127.0.0.1', SIGNUPS_PER_HOUR: '1' } });
    const open = await startTestServer({ settings: { SIGNUPS_PER_HOUR: '1' } });
    onTestFinished(async () => {
      await own.stop();
      await open.stop();
    });
    const at = (address: string) => own.visitor({ 'x-forwarded-for': address });
    expect((await register(someone(), at('2001:db8:1:2:3::1'))).status).toBe(201);
    expect((await register(someone(), at('2001:db8:1:2:ffff::2'))).status).toBe(429);
    expect((await register(someone(), at('2001:db8:1:3::1'))).status).toBe(201);
    expect((await register(someone(), at('198.51.100.7, 2001:db8:1:2::9'))).status).toBe(429);
    expect((await register(someone(), open.visitor({ 'x-forwarded-for': '192.0.2.1' }))).status).toBe(201);
    expect((await register(someone(), open.visitor({ 'x-forwarded-for': '192.0.2.2' }))).status).toBe(429);
  });
});

describe('logging in', () => {
  test('with name and password, in any case of the name', async () => {
    const person = someone();
    const { body } = await register(person);
    const client = server.visitor();
    expect(
      await login({ username: ` ${person.username.toUpperCase()}`, password: person.password }, client),
    ).toMatchObject({ status: 200, body: { username: person.username } });
    expect(await client.call('getUser', {})).toEqual(body);
  });

  test('a wrong password and an unknown name get identical responses', async () => {
    const person = someone();
    await register(person);
    const wrong = await login({ ...person, password: 'another password' });
    const unknown = await login({ ...person, username: `nobody-${people}` });
    expect(wrong).toMatchObject(WRONG);
    expect(unknown.body).toEqual(wrong.body);
    const names = (answer: typeof wrong) => [...answer.headers.keys()].filter((name) => name !== 'date').toSorted();
    expect(names(unknown)).toEqual(names(wrong));
    expect(wrong.headers.getSetCookie()).toEqual([]);
  });

  test('a short name or password is a mistake at its field and not a failure', async () => {
    expect(await login({ username: 'ab', password: 'a good password' })).toMatchObject({
      status: 400,
      body: { fields: { username: 'Username must be at least 3 characters' } },
    });
    expect(await login({ username: 'abc', password: 'short' })).toMatchObject({
      status: 400,
      body: { fields: { password: 'Password must be at least 6 characters' } },
    });
  });

  test('a name or password that no account can have is a wrong one', async () => {
    const { user, password } = await server.register();
    const wrong = [
      { username: 'x'.repeat(41) },
      { username: 'x'.repeat(1_000_000) },
      { username: 'nul\u0000' },
      { password: 'x'.repeat(1025) },
      { password: 'x'.repeat(1_000_000) },
      { password: '\ud800half of one' },
    ];
    for (const change of wrong)
      expect(await login({ username: user.username, password, ...change })).toMatchObject(WRONG);
  });

  test("a new session each time; the browser's earlier one becomes invalid, planted or not", async () => {
    const { user, password, client } = await server.register();
    const before = client.jar.get('creel_session') ?? '';
    await login({ username: user.username, password }, client);
    expect(client.jar.get('creel_session')).not.toBe(before);
    const old = server.visitor();
    old.jar.set('creel_session', before);
    expect((await old.answerTo('/api/user')).status).toBe(401);
  });

  test('the database does not have the token of the cookie', async () => {
    const { client } = await server.register();
    const token = client.jar.get('creel_session') ?? '';
    expect(await server.store.findSession(tokenHash(token), server.clock.now())).toBeDefined();
    expect(await server.store.findSession(token, server.clock.now())).toBeUndefined();
  });

  test('the cookie: HttpOnly, Lax, whole site; over https bound to the host and Secure', async () => {
    const cookies = (await register(someone())).headers.getSetCookie();
    // A session lasts 90 days at most. A browser is known for as long as browsers keep cookies.
    expect(cookies.map((cookie) => /Max-Age=(\d+)/.exec(cookie)?.[1])).toEqual(['7776000', '34560000']);
    for (const cookie of cookies)
      expect(cookie).toMatch(/^creel_(session|browser)=[\w.~-]{43,}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
    await using own = await startTestServer({ settings: { PUBLIC_URL: 'https://creel.example' } });
    for (const cookie of (await register(someone(), own.visitor())).headers.getSetCookie()) {
      expect(cookie).toMatch(
        /^__Host-creel_(session|browser)=[\w.~-]{43,}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
    }
  });

  test('a hash with older parameters is replaced, and the password still works', async () => {
    await using today = await startTestServer({ passwords: new Passwords() });
    const { user, client } = await today.register();
    const { passwordHash: before = null } = (await today.store.findUser(user.id)) ?? {};
    const older = new Passwords({ memoryKib: 8192, passes: 1 });
    await today.store.replacePassword(user.id, before, await older.hash('the old way', { owner: 'test' }));
    for (let tried = 0; tried < 2; tried += 1) {
      expect((await login({ username: user.username, password: 'the old way' }, client)).status).toBe(200);
      expect((await today.store.findUser(user.id))?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    }
  });

  test('with a password that is changed during its check fails', async () => {
    const passwords = new PasswordsWithPause(CHEAP);
    await using own = await startTestServer({ passwords });
    const { user, password } = await own.register();
    const hash = (await own.store.findUser(user.id))?.passwordHash ?? '';
    passwords.afterCheck = () => own.store.replacePassword(user.id, hash, 'another hash');
    const late = own.visitor();
    expect((await login({ username: user.username, password }, late)).status).toBe(401);
    expect((await late.answerTo('/api/user')).status).toBe(401);
  });
});

describe('logging out', () => {
  test('ends the session on the server, with or without one', async () => {
    const { client } = await server.register();
    const cookie = client.jar.header();
    const answer = await client.answerTo('/api/logout', { method: 'POST' });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('clear-site-data')).toBe('"cache"');
    expect(client.jar.get('creel_session')).toBeUndefined();
    expect((await server.visitor({ cookie }).answerTo('/api/user')).status).toBe(401);
    expect((await server.visitor().answerTo('/api/logout', { method: 'POST' })).status).toBe(204);
  });

  test('a session ends after 30 days without use, and after 90 in any case', async () => {
    await using own = await startTestServer();
    const day = 24 * 60 * MINUTE;
    const idle = await own.register();
    const busy = await own.register();
    const statusOf = async ({ client }: typeof idle) => (await client.answerTo('/api/user')).status;
    own.clock.advance(29 * day);
    expect(await statusOf(busy)).toBe(200);
    own.clock.advance(day);
    expect(await statusOf(idle)).toBe(401);
    for (let n = 0; n < 5; n += 1) {
      expect(await statusOf(busy)).toBe(200);
      own.clock.advance(10 * day);
    }
    expect(await statusOf(busy)).toBe(200);
    own.clock.advance(10 * day);
    expect(await statusOf(busy)).toBe(401);
  });
});
