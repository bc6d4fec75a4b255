import { afterAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '@creel/contract';
import type { TestClient } from '../../../test/test-client.ts';
import { openLive } from '../../../test/live-viewer.ts';
import { openMailbox } from '../../../../../fixtures/mailbox.ts';
import type { ReceivedMail } from '../../../../../fixtures/mailbox.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestPerson } from '../../../test/test-server.ts';

const MINUTE = 60_000;
const INVALID = {
  status: 400,
  body: { code: 'LINK_INVALID', error: 'This link is no longer valid. Please ask for a new one.' },
};

const mailbox = await openMailbox();
const server = await startTestServer({
  settings: {
    SMTP_URL: mailbox.url,
    MAIL_FROM: 'Creel <hooks@example.com>',
    DEFAULT_TIER: 'BASIC',
    SIGNUPS_PER_HOUR: '1000',
    TRUST_PROXY: '127.0.0.1',
  },
});
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

let addresses = 0;
/** A visitor with its own address, because each address may request few links. */
function visitor(): TestClient {
  addresses += 1;
  return server.visitor({ 'x-forwarded-for': `198.51.${addresses >> 8}.${addresses & 255}` });
}
const post = (client: TestClient, path: string, json?: object, headers: Record<string, string> = {}) =>
  client.answerTo(path, { method: 'POST', ...(json && { json }), headers });
const askReset = (email: string, client = visitor(), headers: Record<string, string> = {}) =>
  post(client, '/api/password-reset', { email }, headers);
const reset = (token: string, password: string, client = visitor()) =>
  post(client, '/api/password-reset/confirm', { token, password });
const verify = (client: TestClient, token: string) => post(client, '/api/email-verification/confirm', { token });

function linkIn(mail: ReceivedMail): { path: string; token: string } {
  const url = new URL(/https?:\S+/.exec(mail.text)?.[0] ?? 'missing:');
  expect(url.origin).toBe(server.origin);
  expect(mail.html).toContain(`href="${url.href}"`);
  return { path: url.pathname, token: url.searchParams.get('token') ?? '' };
}

async function resetToken({ user }: TestPerson): Promise<string> {
  expect((await askReset(user.email)).status).toBe(200);
  return linkIn(await mailbox.next()).token;
}

async function verifyToken({ client }: TestPerson): Promise<string> {
  await client.call('requestEmailVerification', {});
  return linkIn(await mailbox.next()).token;
}

const canLogIn = async ({ user }: TestPerson, password: string) =>
  (await post(visitor(), '/api/login', { username: user.username, password })).status === 200;

describe('a new password by mail', () => {
  test('the link opens the page, sets the password, and ends every session with its sockets', async () => {
    const person = await server.register();
    const { uid } = await person.client.call('createEndpoint', { body: {} });
    const viewer = await openLive(person.client, uid);
    await viewer.until((messages) => messages.length > 0);
    await askReset(person.user.email.toUpperCase());
    const mail = await mailbox.next();
    expect(mail.to).toEqual([person.user.email]);
    expect(mail.from).toBe('hooks@example.com');
    expect(mail.text).toContain(person.user.username);
    const { path, token } = linkIn(mail);
    expect(path).toBe('/auth/reset');
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await reset(token, 'a newer password')).toMatchObject({
      status: 200,
      body: { message: expect.any(String) },
    });
    expect(await viewer.closed).toBe(4401);
    expect((await person.client.answerTo('/api/user')).status).toBe(401);
    expect([await canLogIn(person, person.password), await canLogIn(person, 'a newer password')]).toEqual([
      false,
      true,
    ]);
    expect((await server.store.findUser(person.user.id))?.emailVerified).toBe(true);
  });

  test('known and unknown addresses get identical responses', async () => {
    const person = await server.register();
    const unknown = await askReset(`nobody-${person.user.id}@example.com`);
    const known = await askReset(person.user.email);
    expect(known).toMatchObject({
      status: 200,
      body: { message: 'If an account has this address, a link is on its way to it. It works once, for 30 minutes.' },
    });
    expect({ ...unknown, headers: undefined }).toEqual({ ...known, headers: undefined });
    // The next mail, so the unknown address got none before.
    expect((await mailbox.next()).to).toEqual([person.user.email]);
  });

  test('a link works once, even for twenty parallel calls', async () => {
    const person = await server.register();
    const token = await resetToken(person);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => reset(token, `password number ${n}`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 400)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await canLogIn(person, `password number ${winner}`)).toBe(true);
    expect(await reset(token, 'a newer password')).toMatchObject(INVALID);
  });

  test('an invalid new password does not use it up', async () => {
    const person = await server.register();
    const token = await resetToken(person);
    expect(await reset(token, 'short')).toMatchObject({
      status: 400,
      body: { fields: { password: 'Password must be at least 6 characters' } },
    });
    expect((await reset(token, 'long enough')).status).toBe(200);
  });

  test('a newer link leaves the older one valid; using one invalidates the others', async () => {
    const person = await server.register();
    const [first, second, third] = [await resetToken(person), await resetToken(person), await resetToken(person)];
    expect((await reset(second, 'a newer password')).status).toBe(200);
    for (const other of [first, second, third]) expect(await reset(other, 'another password')).toMatchObject(INVALID);
  });

  test("a stranger's repeated requests leave the owner a valid link until the next one is sent", async () => {
    const person = await server.register();
    const asked = [];
    for (let nth = 0; nth < 5; nth += 1) asked.push(await resetToken(person));
    const refused = await askReset(person.user.email);
    expect(refused).toMatchObject({ status: 429 });
    // A minute before, because the clock runs on.
    server.clock.advance((Number(refused.headers.get('retry-after')) - 60) * 1000);
    expect((await askReset(person.user.email)).status).toBe(429);
    expect((await reset(asked[4] ?? '', 'a newer password')).status).toBe(200);
    server.clock.advance(60_000);
    expect(await resetToken(person)).not.toBe('');
  });

  test('invented links, links for another purpose and links of deleted users are rejected', async () => {
    const person = await server.register();
    const forVerifying = await verifyToken(person);
    for (const token of ['x', 'A'.repeat(43), forVerifying])
      expect(await reset(token, 'a newer password')).toMatchObject(INVALID);
    const gone = await server.register();
    const orphan = await resetToken(gone);
    await gone.client.call('deleteAccount', { body: { password: gone.password } });
    expect(await reset(orphan, 'a newer password')).toMatchObject(INVALID);
  });

  test('the link uses the public URL, and not the host of the request', async () => {
    const person = await server.register();
    const evil = {
      host: 'evil.test',
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.test',
    };
    expect((await askReset(person.user.email, visitor(), evil)).status).toBe(200);
    const mail = await mailbox.next();
    expect(linkIn(mail).path).toBe('/auth/reset');
    expect(mail.raw).not.toContain('evil.test');
  });

  test('lets an owner log in who was locked out by guesses of others', async () => {
    const person = await server.register();
    for (let n = 0; n < 10; n += 1) await canLogIn(person, 'a wrong guess');
    expect(await canLogIn(person, person.password)).toBe(false);
    const change = (client: TestClient, currentPassword: string) => {
      const json = { currentPassword, newPassword: 'another one', confirmPassword: 'another one' };
      return client.answerTo('/api/profile/password', { method: 'PUT', json });
    };
    for (let n = 0; n < 10; n += 1) await change(person.client, 'a wrong guess');
    await reset(await resetToken(person), 'a newer password');
    expect(await canLogIn(person, 'a newer password')).toBe(true);
    const owner = visitor();
    await post(owner, '/api/login', { username: person.user.username, password: 'a newer password' });
    expect((await change(owner, 'a newer password')).status).toBe(200);
  });

  test("makes the confirming browser a known one, so that others' guesses don't lock the owner out", async () => {
    const person = await server.register();
    const token = await resetToken(person);
    const password = 'a newer password';
    expect((await reset(token, password, person.client)).status).toBe(200);
    for (let n = 0; n < 10; n += 1) await canLogIn(person, 'a wrong guess');
    const credentials = { username: person.user.username, password };
    expect((await post(visitor(), '/api/login', credentials)).status).toBe(429);
    expect((await post(person.client, '/api/login', credentials)).status).toBe(200);
  });

  test('becomes invalid when the password is changed in the profile; a verification link does not', async () => {
    const person = await server.register();
    const [forReset, forVerifying] = [await resetToken(person), await verifyToken(person)];
    const newPassword = 'a newer password';
    await person.client.call('changePassword', {
      body: { currentPassword: person.password, newPassword, confirmPassword: newPassword },
    });
    expect(await reset(forReset, 'the password of a finder')).toMatchObject(INVALID);
    expect(await canLogIn(person, newPassword)).toBe(true);
    expect((await verify(person.client, forVerifying)).status).toBe(200);
  });

  test('resets the address for notices that another person has set', async () => {
    const person = await server.register();
    const settings = { ...person.user.settings, autoSaveNewEndpoints: true, email: 'elsewhere@example.com' };
    await person.client.call('saveSettings', { body: settings });
    await reset(await resetToken(person), 'a newer password');
    expect((await server.store.findUser(person.user.id))?.settings).toEqual({ ...settings, email: person.user.email });
  });

  test('can be requested five times an hour per address, known or not', async () => {
    const person = await server.register();
    for (const email of [person.user.email, `unknown-${person.user.id}@example.com`]) {
      for (let n = 0; n < 5; n += 1) expect((await askReset(email)).status).toBe(200);
      expect((await askReset(email.toUpperCase())).status).toBe(429);
    }
    for (let n = 0; n < 5; n += 1) await mailbox.next();
  });

  test('ends the access of a previous holder of the account', async () => {
    const person = await server.register();
    const trojan = { issuer: 'https://acme.test', subject: `trojan-${person.user.id}` };
    const check = await verifyToken(person);
    await verify(person.client, check);
    expect(await server.store.linkIdentity(trojan, person.user.email, 0)).toBe(true);
    await reset(await resetToken(person), 'a newer password');
    expect(await server.store.findUserByIdentity(trojan)).toBeUndefined();
  });

  test('names with markup stay text', async () => {
    const { user } = await server.register({ username: `<img src=x onerror=a>&${Date.now() % 1000}` });
    await askReset(user.email);
    const mail = await mailbox.next();
    expect(mail.text).toContain(user.username);
    expect(mail.html).toContain('&lt;img src=x onerror=a&gt;&amp;');
    expect(mail.html).not.toContain('<img');
  });
});

test.each(['bonus: https://evil.test/x', 'visit evil.test', 'www.evil.test'])(
  'a stranger who signs up with another address as %j puts no link into the mail that goes there',
  async (name) => {
    const person = await server.register({ username: `${name} ${Date.now() % 100_000}` });
    await askReset(person.user.email);
    const mail = await mailbox.next();
    expect(mail.text).not.toContain('evil');
    expect(mail.html).not.toContain('evil');
    expect(mail.text).toContain('the Creel account with this address');
  },
);

describe('a verified address', () => {
  test('needs the link and a session of the account it was mailed for', async () => {
    const [person, stranger] = [await server.register(), await server.register()];
    const token = await verifyToken(person);
    expect((await verify(visitor(), token)).status).toBe(401);
    expect(await verify(stranger.client, token)).toMatchObject(INVALID);
    expect((await person.client.call('getUser', {})).emailVerified).toBe(false);
    expect((await verify(person.client, token)).status).toBe(200);
    expect((await person.client.call('getUser', {})).emailVerified).toBe(true);
    expect(await verify(person.client, token)).toMatchObject(INVALID);
    expect(await person.client.call('requestEmailVerification', {})).toEqual({
      message: 'Your email address is confirmed already.',
    });
  });

  test('ends sessions from before', async () => {
    const person = await server.register();
    const before = visitor();
    await before.call('login', { body: { username: person.user.username, password: person.password } });
    await verify(person.client, await verifyToken(person));
    expect([(await before.answerTo('/api/user')).status, (await person.client.answerTo('/api/user')).status]).toEqual([
      401, 200,
    ]);
  });

  test('of twenty clicks at once, one verifies', async () => {
    const person = await server.register();
    const token = await verifyToken(person);
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(person.client, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('a password reset link verifies nothing', async () => {
    const person = await server.register();
    expect(await verify(person.client, await resetToken(person))).toMatchObject(INVALID);
  });

  test("a mail server's rejection is reported", async () => {
    mailbox.refuse = { address: 'unlucky', words: 'No such user' };
    const { client } = await server.register({ email: `unlucky-${Date.now()}@example.com` });
    expect(await post(client, '/api/email-verification')).toMatchObject({
      status: 502,
      body: { code: 'MAIL_FAILED', error: '550 No such user' },
    });
    mailbox.refuse = undefined;
  });

  test('no call changes an address, so that no pending change can remain', () => {
    const fields = Object.entries(OPERATIONS).flatMap(([name, operation]) =>
      'body' in operation && name.startsWith('change')
        ? Object.keys('shape' in operation.body ? operation.body.shape : {})
        : [],
    );
    expect(fields).toContain('username');
    expect(fields).not.toContain('email');
  });
});

describe('after half an hour', () => {
  test('links are expired', async () => {
    await using own = await startTestServer({ settings: { SMTP_URL: mailbox.url } });
    const person = await own.register();
    const tokenIn = async (): Promise<string> =>
      new URL(/https?:\S+/.exec((await mailbox.next()).text)?.[0] ?? 'missing:').searchParams.get('token') ?? '';
    await own.visitor().call('requestPasswordReset', { body: { email: person.user.email } });
    const forReset = await tokenIn();
    await person.client.call('requestEmailVerification', {});
    const forVerifying = await tokenIn();
    own.clock.advance(30 * MINUTE);
    expect(await reset(forReset, 'a newer password', own.visitor())).toMatchObject(INVALID);
    expect(await verify(person.client, forVerifying)).toMatchObject(INVALID);
  });
});

describe('without SMTP_URL', () => {
  test('mail is off, and the response says so', async () => {
    await using own = await startTestServer();
    const { client, user } = await own.register();
    const off = { status: 501, body: { code: 'MAIL_OFF', error: 'Email is off on this server.' } };
    expect(await askReset(user.email, own.visitor())).toMatchObject(off);
    expect(await askReset('nobody@example.com', own.visitor())).toMatchObject(off);
    expect(await post(client, '/api/email-verification')).toMatchObject(off);
  });
});
