import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { User } from '@creel/contract';
import type { TestClient } from '../../../test/test-client.ts';
import {
  comeBack,
  flowCookies,
  login,
  messageOf,
  prove,
  seat,
  startWithProvider,
  walk,
} from '../../../test/provider-window.ts';
import { newUser } from '../../../test/store-world.ts';
import { startTestServer } from '../../../test/test-server.ts';

let people = 0;
const { provider, server, stop } = await startWithProvider();
afterAll(() => stop());
beforeEach(() => {
  people += 1;
  seat(provider, people);
});

async function logIn(browser = server.visitor()): Promise<{ browser: TestClient; user: User }> {
  return { browser, user: await browser.call('googleLogin', { body: await prove(provider, browser) }) };
}

describe('logging in', () => {
  test('the whole flow: a window, a message, an account with its own name', async () => {
    const browser = server.visitor();
    const start = await browser.send('/auth/oidc/start');
    expect(start.status).toBe(302);
    const asked = new URL(start.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      client_id: 'creel',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
      redirect_uri: `${server.origin}/auth/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)?.length).toBeGreaterThan(40);
    const identity = await prove(provider, browser);
    expect(identity).toEqual({ email: `p${people}@acme.test`, displayName: `Person ${people}`, uid: `sub-${people}` });
    const user = await browser.call('googleLogin', { body: identity });
    expect(user).toMatchObject({
      username: `Person ${people}`,
      email: identity.email,
      emailVerified: true,
      thirdPartyOnly: true,
      displayName: `Person ${people}`,
    });
    expect(await browser.call('getUser', {})).toEqual(user);
  });

  test('the same user returns to the same account after any change of email and name', async () => {
    const { user } = await logIn();
    provider.person = { ...provider.person, email: `moved-${people}@acme.test`, name: 'Somebody Else' };
    expect((await logIn()).user.id).toBe(user.id);
  });

  test('a taken name gets a number, and a short one a prefix', async () => {
    const { user } = await logIn();
    provider.person = {
      sub: `twin-${people}`,
      email: `twin-${people}@acme.test`,
      email_verified: true,
      name: user.username,
    };
    expect((await logIn()).user.username).toMatch(new RegExp(`^${user.username}-\\d+$`));
    provider.person = { sub: `short-${people}`, email: `short-${people}@acme.test`, email_verified: true, name: 'x' };
    expect((await logIn()).user.username).toMatch(/^user-x/);
  });

  test('without a name, the local part of the email replaces it', async () => {
    provider.person = { sub: `nameless-${people}`, email: `nameless-${people}@acme.test`, email_verified: true };
    expect((await prove(provider, server.visitor())).displayName).toBe(`nameless-${people}`);
  });

  test('a long name is truncated between characters, as display name and username', async () => {
    provider.person = { ...provider.person, name: `${'n'.repeat(99)}🦀🦀` };
    const browser = server.visitor();
    const identity = await prove(provider, browser);
    expect(identity.displayName).toBe('n'.repeat(99));
    expect(await login(browser, identity)).toMatchObject({ status: 200, body: { displayName: 'n'.repeat(99) } });
    provider.person = {
      ...provider.person,
      sub: `crab-${people}`,
      email: `c${people}@acme.test`,
      name: `${'x'.repeat(39)}🦀`,
    };
    expect((await logIn()).user.username).toBe('x'.repeat(39));
  });

  test('half of a surrogate pair is removed from a name, and rejected in an identifier', async () => {
    const claims: Record<string, unknown> = { name: 'Half \ud83e Crab' };
    provider.tamper = (parts, sign) => sign({ ...parts, payload: { ...parts.payload, ...provider.person, ...claims } });
    const browser = server.visitor();
    const identity = await prove(provider, browser);
    expect(identity.displayName).toBe('Half  Crab');
    expect((await login(browser, identity)).status).toBe(200);
    for (const sub of ['half-\ud83e', 'nul-\u0000']) {
      claims['sub'] = sub;
      const other = server.visitor();
      expect(await comeBack(other, await walk(provider, other))).toMatchObject({ problem: 'failed' });
    }
  });

  test('an invisible name does not become the username', async () => {
    provider.person = { ...provider.person, name: '\u3164\u3164\u3164a\ufe0f' };
    expect((await logIn()).user.username).toMatch(/^user-a(-\d+)?$/);
  });

  test('the login page offers the provider', async () => {
    expect((await server.visitor().call('getServiceInfo', {})).signIn).toEqual({
      name: 'Acme',
      startUrl: `${server.origin}/auth/oidc/start`,
    });
  });

  test('a provider that gives no address: the sentence, in the window and at the call', async () => {
    provider.person = { sub: `silent-${people}` };
    const browser = server.visitor();
    expect(await comeBack(browser, await walk(provider, browser))).toMatchObject({
      message: 'No email provided from Google account',
    });
    expect(await login(browser, { displayName: 'X', uid: `silent-${people}` })).toMatchObject({
      status: 400,
      body: {
        error: 'No email provided from Google account',
        code: 'VALIDATION_FAILED',
        fields: { email: 'No email provided from Google account' },
      },
    });
  });

  test('a user who declines at the provider sees that the login was canceled', async () => {
    provider.deny = true;
    const browser = server.visitor();
    expect(await comeBack(browser, await walk(provider, browser))).toMatchObject({
      problem: 'popup-closed-by-user',
      message: 'The login was canceled at Acme.',
    });
  });

  test('the last page has no inline script, sends to no other origin, and may message its opener', async () => {
    const browser = server.visitor();
    const page = await browser.answerTo(await walk(provider, browser));
    expect(String(page.body)).not.toMatch(/<script(?![^>]*src=)/);
    const [, nonce] = /<script src="[^"]+" nonce="([\w-]{22})"/.exec(String(page.body)) ?? [];
    expect(page.headers.get('content-security-policy')).toContain(`script-src 'nonce-${nonce}' 'strict-dynamic';`);
    expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const script = await browser.answerTo('/auth/oidc/callback.js');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(String(script.body)).toContain('location.origin');
  });

  test('a name with markup and control characters arrives as text', async () => {
    provider.person = { ...provider.person, name: `"><script>alert(1)</script>\u0000\u202e'&amp;` };
    const browser = server.visitor();
    const page = await browser.answerTo(await walk(provider, browser));
    expect(String(page.body)).not.toContain('<script>alert');
    expect(messageOf(page.body).identity?.displayName).toBe(`"><script>alert(1)</script>'&amp;`);
  });
});

describe('the last step is never trusted alone', () => {
  const NOT_PROVEN = { status: 401, body: { code: 'IDENTITY_NOT_PROVEN' } };

  test('a browser without a proof', async () => {
    expect(await login(server.visitor(), { email: 'p@acme.test', displayName: 'P', uid: 'sub' })).toMatchObject(
      NOT_PROVEN,
    );
  });

  test.each([
    ['another email', { email: 'victim@acme.test' }],
    ['another uid', { uid: 'victim' }],
    ['another name', { displayName: 'Victim' }],
    ['the email in other case', { email: 'P@ACME.TEST' }],
    ['no uid', { uid: undefined }],
  ])('%s than the proven one', async (_, change) => {
    const browser = server.visitor();
    const identity = await prove(provider, browser);
    expect(await login(browser, { ...identity, ...change })).toMatchObject(NOT_PROVEN);
    expect((await login(browser, identity)).status).toBe(200);
  });

  test('a proof of one browser does not work in another', async () => {
    const identity = await prove(provider, server.visitor());
    expect(await login(server.visitor(), identity)).toMatchObject(NOT_PROVEN);
    const other = server.visitor();
    other.jar.set('creel_identity_AAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
    expect(await login(other, identity)).toMatchObject(NOT_PROVEN);
  });

  test('two logins of one browser at once do not disturb each other', async () => {
    const browser = server.visitor();
    const first = await walk(provider, browser, '?flow=one');
    seat(provider, (people += 1));
    const second = await walk(provider, browser, '?flow=two');
    const [two, one] = [await comeBack(browser, second), await comeBack(browser, first)];
    expect([one.flow, two.flow]).toEqual(['one', 'two']);
    expect(one.identity?.uid).not.toBe(two.identity?.uid);
    for (const { identity } of [one, two])
      expect(await login(browser, identity ?? {})).toMatchObject({ status: 200, body: { email: identity?.email } });
    expect(flowCookies(browser, 'creel_identity')).toEqual([]);
  });

  test('of six logins of one browser, the oldest is forgotten', async () => {
    const browser = server.visitor();
    const paths: string[] = [];
    for (let nth = 0; nth < 6; nth += 1) paths.push(await walk(provider, browser));
    expect(flowCookies(browser, 'creel_attempt')).toHaveLength(5);
    const answers: unknown[] = [];
    for (const path of paths) answers.push((await comeBack(browser, path)).identity?.uid);
    expect(answers.map((uid) => uid === undefined)).toEqual([true, false, false, false, false, false]);
  });

  test('a proof works once, even for twenty parallel calls', async () => {
    const browser = server.visitor();
    const identity = await prove(provider, browser);
    const cookie = browser.jar.header();
    const tries = await Promise.all(
      Array.from({ length: 20 }, () =>
        server.visitor({ cookie }).answerTo('/api/google-login', { method: 'POST', json: identity }),
      ),
    );
    expect(tries.map((one) => one.status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
  });

  test('a proof expires after ten minutes', async () => {
    const own = await startTestServer({ settings: provider.settings });
    onTestFinished(async () => {
      provider.serve(server.origin);
      await own.stop();
    });
    provider.serve(own.origin);
    const browser = own.visitor();
    const identity = await prove(provider, browser);
    own.clock.advance(10 * 60_000);
    expect(await login(browser, identity)).toMatchObject(NOT_PROVEN);
  });
});

describe('existing accounts (Sudhodanan & Paverd)', () => {
  const PASSWORD_FIRST = { status: 409, body: { code: 'PASSWORD_FIRST' } };

  test('an unverified account with the same email is not linked, and stays unchanged', async () => {
    const attacker = await server.register({ email: `P${people}@ACME.test` });
    const victim = server.visitor();
    expect(await login(victim, await prove(provider, victim))).toMatchObject(PASSWORD_FIRST);
    expect((await victim.answerTo('/api/user')).status).toBe(401);
    expect(await attacker.client.call('getUser', {})).toMatchObject({ id: attacker.user.id, emailVerified: false });
  });

  test('an address that the provider has not verified is not trusted, even if we have verified it', async () => {
    for (const email_verified of [false, undefined]) {
      people += 1;
      const email = `q${people}@acme.test`;
      provider.person = { sub: `first-${people}`, email, email_verified: true, name: `First ${people}` };
      const owner = await logIn();
      expect(owner.user.emailVerified).toBe(true);
      provider.person = {
        sub: `second-${people}`,
        email,
        name: 'Second',
        ...(email_verified === undefined ? {} : { email_verified }),
      };
      const other = server.visitor();
      expect(await login(other, await prove(provider, other))).toMatchObject(PASSWORD_FIRST);
    }
  });

  test('an address verified on both sides links the identity', async () => {
    const { user } = await logIn();
    provider.person = { ...provider.person, sub: `other-${people}` };
    expect((await logIn()).user.id).toBe(user.id);
    expect(await server.store.findUserByIdentity({ issuer: provider.url, subject: `other-${people}` })).toMatchObject({
      id: user.id,
    });
  });

  test('an account from a provider without verification is unverified, and is not linked by one with it', async () => {
    provider.person = { ...provider.person, email_verified: false };
    const first = await logIn();
    expect(first.user.emailVerified).toBe(false);
    provider.person = { ...provider.person, sub: `real-${people}`, email_verified: true };
    const owner = server.visitor();
    expect(await login(owner, await prove(provider, owner))).toMatchObject(PASSWORD_FIRST);
  });

  test('the same subject of another issuer is another user', async () => {
    const elsewhere = { issuer: 'https://other.test', subject: `sub-${people}` };
    const other = await server.store.createUser(newUser({ username: `other-${people}` }), elsewhere);
    const { user } = await logIn();
    expect(other).toMatchObject({ user: { username: `other-${people}` } });
    expect(user.username).toBe(`Person ${people}`);
    expect((await server.store.findUserByIdentity(elsewhere))?.username).toBe(`other-${people}`);
  });

  test('two parallel browsers of a new user create one account', async () => {
    const [one, two] = [server.visitor(), server.visitor()];
    const proofs = [await prove(provider, one), await prove(provider, two)] as const;
    const users = await Promise.all([
      one.call('googleLogin', { body: proofs[0] }),
      two.call('googleLogin', { body: proofs[1] }),
    ]);
    expect(users[0].id).toBe(users[1].id);
  });

  test('a session that was planted before the login is invalid afterwards', async () => {
    const attacker = await server.register();
    const planted = attacker.client.jar.get('creel_session') ?? '';
    const victim = server.visitor();
    victim.jar.set('creel_session', planted);
    await logIn(victim);
    expect(victim.jar.get('creel_session')).not.toBe(planted);
    expect((await attacker.client.answerTo('/api/user')).status).toBe(401);
  });
});
