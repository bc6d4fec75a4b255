import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { TestClient } from '../../../test/test-client.ts';
import { freePort } from '../../../../../fixtures/free-port.ts';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { jwtInput } from '../../../../../fixtures/openid-provider.ts';
import type { JwtParts, TestProvider } from '../../../../../fixtures/openid-provider.ts';
import {
  comeBack,
  flowCookies,
  messageOf,
  prove,
  seat,
  startWithProvider,
  walk,
} from '../../../test/provider-window.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { Provider, ProviderProblem } from './provider.ts';

let people = 0;
const { provider, server, stop } = await startWithProvider();
afterAll(() => stop());
beforeEach(() => {
  people += 1;
  seat(provider, people);
});

describe('attacks on the callback', () => {
  const refused = { problem: 'failed', message: 'Acme did not confirm who you are. Please try again.' };
  const lost = {
    problem: 'failed',
    message: 'This login took too long, or was begun in another window. Please try again.',
  };

  /** In every case the browser must have proved nothing. */
  async function expectNothing(browser: TestClient, path: string, told: object): Promise<void> {
    const message = await comeBack(browser, path);
    expect(message).toMatchObject(told);
    expect(message.identity).toBeUndefined();
    expect(flowCookies(browser, 'creel_identity')).toEqual([]);
  }

  test('without a state, as in a forged link', async () => {
    const victim = server.visitor();
    await victim.send('/auth/oidc/start');
    await expectNothing(victim, '/auth/oidc/callback?code=stolen', lost);
  });

  test("with the attacker's code and state in the victim's browser", async () => {
    const path = await walk(provider, server.visitor());
    await expectNothing(server.visitor(), path, lost);
    const victim = server.visitor();
    await victim.send('/auth/oidc/start');
    await expectNothing(victim, path, lost);
  });

  test('with a code for the second time', async () => {
    const browser = server.visitor();
    const path = await walk(provider, browser);
    const [[name, attempt] = ['', '']] = flowCookies(browser, 'creel_attempt');
    expect((await comeBack(browser, path)).identity).toBeDefined();
    browser.jar.clear();
    await expectNothing(browser, path, lost);
    browser.jar.set(name, attempt);
    await expectNothing(browser, path, refused);
  });

  test('with an expired or changed attempt', async () => {
    const browser = server.visitor();
    const path = await walk(provider, browser);
    const [[name, attempt] = ['', '']] = flowCookies(browser, 'creel_attempt');
    browser.jar.set(name, attempt.slice(0, -2) + (attempt.endsWith('AA') ? 'BB' : 'AA'));
    await expectNothing(browser, path, lost);
    const own = await startTestServer({ settings: provider.settings });
    onTestFinished(async () => {
      provider.serve(server.origin);
      await own.stop();
    });
    provider.serve(own.origin);
    const slow = own.visitor();
    const late = await walk(provider, slow);
    own.clock.advance(10 * 60_000);
    await expectNothing(slow, late, lost);
  });

  test('with a code that was requested without PKCE', async () => {
    provider.allowWithoutPkce = true;
    const browser = server.visitor();
    const start = await browser.send('/auth/oidc/start');
    const stripped = new URL(start.headers.get('location') ?? '');
    stripped.searchParams.delete('code_challenge');
    stripped.searchParams.delete('code_challenge_method');
    await expectNothing(browser, await provider.authorize(stripped.href), refused);
  });

  test('with a wrong issuer in the response (RFC 9207)', async () => {
    const browser = server.visitor();
    const path = new URL(await walk(provider, browser), server.origin);
    path.searchParams.set('iss', 'https://evil.test');
    await expectNothing(browser, path.pathname + path.search, refused);
  });

  const changed = (change: (parts: JwtParts) => void) => (parts: JwtParts, sign: (parts: JwtParts) => string) => {
    change(parts);
    return sign(parts);
  };
  test.each<[string, NonNullable<TestProvider['tamper']>]>([
    ['another issuer', changed(({ payload }) => (payload['iss'] = 'https://evil.test'))],
    ['another audience', changed(({ payload }) => (payload['aud'] = 'another-client'))],
    ['another nonce', changed(({ payload }) => (payload['nonce'] = 'x'.repeat(43)))],
    ['no nonce', changed(({ payload }) => delete payload['nonce'])],
    ['an expiry in the past', changed(({ payload }) => (payload['exp'] = 1_000_000_000))],
    ['no subject', changed(({ payload }) => delete payload['sub'])],
    ['more than a megabyte', changed(({ payload }) => (payload['padding'] = 'x'.repeat(1024 * 1024)))],
    ['algorithm none', ({ header, payload }) => `${jwtInput({ header: { ...header, alg: 'none' }, payload })}.`],
    [
      'HS256 with the public key',
      ({ header, payload }, _sign, key) => {
        const input = jwtInput({ header: { ...header, alg: 'HS256' }, payload });
        return `${input}.${createHmac('sha256', key.export({ type: 'spki', format: 'pem' }))
          .update(input)
          .digest('base64url')}`;
      },
    ],
    [
      'a signature of somebody else',
      ({ header, payload }) => `${jwtInput({ header, payload })}.${Buffer.alloc(256, 7).toString('base64url')}`,
    ],
  ])('with an ID token of %s', async (_, tamper) => {
    provider.tamper = tamper;
    const browser = server.visitor();
    await expectNothing(browser, await walk(provider, browser), refused);
  });

  test("the test's tampering is harmless by itself: an unchanged token passes", async () => {
    provider.tamper = (parts, sign) => sign(parts);
    expect((await prove(provider, server.visitor())).uid).toBe(`sub-${people}`);
  });

  test('the log names the failure and contains no code and no secret', async () => {
    expect(server.log()).toContain('a third-party login failed');
    expect(server.log()).toContain('the provider answered invalid_grant');
    expect(server.log()).not.toMatch(/canary-oidc|code=|stolen/);
  });

  test('a start from another site is rejected; a typed link or our own is not', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const answer = await server.visitor().answerTo('/auth/oidc/start', { headers: { 'sec-fetch-site': site } });
      expect(answer.status).toBe(403);
      expect(messageOf(answer.body).problem).toBe('unauthorized-domain');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    for (const site of ['none', 'same-origin']) {
      expect((await server.visitor().send('/auth/oidc/start', { headers: { 'sec-fetch-site': site } })).status).toBe(
        302,
      );
    }
  });

  test('a hundred callbacks per address and hour, so that no client can flood the provider through this server', async () => {
    await using own = await startTestServer({ settings: provider.settings });
    const browser = own.visitor();
    const comeBackWith = async (code: string) => {
      const { headers } = await browser.send('/auth/oidc/start');
      const state = new URL(headers.get('location') ?? '').searchParams.get('state');
      return browser.answerTo(`/auth/oidc/callback?code=${code}&state=${state}`);
    };
    for (let n = 0; n < 100; n += 1) expect((await comeBackWith('x')).status).toBe(400);
    const last = await comeBackWith('x');
    expect(last.status).toBe(429);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(messageOf(last.body)).toMatchObject({
      problem: 'failed',
      message: expect.stringMatching(/^Too many attempts/),
    });
  });

  test('requests without an attempt, which any page can trigger, do not lock users out', async () => {
    const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' };
    for (let n = 0; n < 110; n += 1) {
      const answer = await server.visitor().send('/auth/oidc/callback?code=x', { headers: image });
      expect(answer.status).toBe(400);
    }
    const browser = server.visitor();
    expect((await comeBack(browser, await walk(provider, browser))).identity).toBeDefined();
  });

  test('a HEAD starts nothing and uses up no code', async () => {
    expect((await server.visitor().send('/auth/oidc/start', { method: 'HEAD' })).status).not.toBe(302);
    const browser = server.visitor();
    const path = await walk(provider, browser);
    await browser.send(path, { method: 'HEAD' });
    expect((await comeBack(browser, path)).identity).toBeDefined();
  });

  test('no parameter redirects to another site', async () => {
    const start = await server
      .visitor()
      .send('/auth/oidc/start?return_to=https://evil.test&redirect_uri=https://evil.test', {
        headers: { host: 'evil.test', 'x-forwarded-host': 'evil.test' },
      });
    expect(new URL(start.headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
      `${server.origin}/auth/oidc/callback`,
    );
    expect(start.headers.get('location')).not.toContain('evil');
  });
});

describe('a failing provider', () => {
  test('unreachable: the error says so, and the next attempt asks again', async () => {
    await using own = await startTestServer({
      settings: { OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`, OIDC_CLIENT_ID: 'creel', LOG_LEVEL: 'warn' },
    });
    for (let tried = 0; tried < 2; tried += 1) {
      const answer = await own.visitor().answerTo('/auth/oidc/start');
      expect(answer.status).toBe(502);
      expect(messageOf(answer.body)).toMatchObject({ problem: 'network-request-failed' });
    }
    expect(own.log()).toContain('ECONNREFUSED');
  });

  test('unreachable: all who wait for the same answer get that error', async () => {
    const config = { issuer: 'http://127.0.0.1:9', clientId: 'creel', clientSecret: undefined, name: 'Acme' };
    const own = new Provider(config, () => 'http://127.0.0.1', 'secret', Date.now);
    const attempts = await Promise.allSettled([own.begin(undefined), own.begin(undefined)]);
    const errors = attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason);
    for (const error of errors) expect(error).toBeInstanceOf(ProviderProblem);
  });

  test.each([500, 503])('that answers %i counts as unreachable, and the next attempt asks again', async (status) => {
    let asked = 0;
    const failing = createServer((_request, response) => {
      asked += 1;
      response.writeHead(status).end('out of order');
    });
    const issuer = `http://127.0.0.1:${await listenLocally(failing)}`;
    onTestFinished(() => void failing.close());
    await using own = await startTestServer({
      settings: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'creel', LOG_LEVEL: 'warn' },
    });
    for (const times of [1, 2]) {
      const answer = await own.visitor().answerTo('/auth/oidc/start');
      expect([answer.status, asked]).toEqual([502, times]);
      expect(messageOf(answer.body)).toMatchObject({ problem: 'network-request-failed' });
    }
    expect(own.log()).toContain(`the provider answered ${status}`);
  });

  test('without a usable login page: the error says so, and the next attempt asks again', async () => {
    let page = 'not a url';
    const metadata = (): string =>
      JSON.stringify({ issuer, authorization_endpoint: page, token_endpoint: `${issuer}/token`, jwks_uri: issuer });
    const issuing = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(metadata());
    });
    const issuer = `http://127.0.0.1:${await listenLocally(issuing)}`;
    onTestFinished(() => void issuing.close());
    await using own = await startTestServer({ settings: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'creel' } });
    const answer = await own.visitor().answerTo('/auth/oidc/start');
    expect(answer.status).toBe(502);
    expect(messageOf(answer.body)).toMatchObject({ problem: 'failed' });
    page = `${issuer}/authorize`;
    expect((await own.visitor().send('/auth/oidc/start')).headers.get('location')).toMatch(page);
  });

  test('not configured: no window, no offer', async () => {
    await using own = await startTestServer();
    expect((await own.visitor().call('getServiceInfo', {})).signIn).toBeNull();
    expect((await own.visitor().send('/auth/oidc/callback.js')).status).toBe(404);
  });
});
