import { afterAll, expect, test } from 'vitest';
import { openSqliteStore } from './database/sqlite/sqlite-store.ts';
import { QUERIES } from './queries.ts';
import { openMailbox } from '../../../fixtures/mailbox.ts';
import { prove, walk } from '../test/provider-window.ts';
import type { TestClient } from '../test/test-client.ts';
import { CLIENT_SECRET, startTestProvider } from '../../../fixtures/openid-provider.ts';
import { startTestServer } from '../test/test-server.ts';

/**
 * Secrets pass through the whole server, at the most verbose log level and through all kinds of failures. They must be
 * in no log line, no error and no metric.
 */
const secrets = new Set([CLIENT_SECRET, 'canary-smtp', 'canary-stripe-key', 'canary-whsec']);
/** Every failed response, and every metric. */
const said: string[] = [];
let broken = false;

function failing<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  return (...args: Args): Promise<Result> => {
    if (!broken) return work(...args);
    // Like real databases: the error contains the values.
    return Promise.reject(
      Object.assign(new Error('constraint failed'), { detail: `Failing row contains (${JSON.stringify(args)})` }),
    );
  };
}

const provider = await startTestProvider();
const mailbox = await openMailbox({
  allowInsecureAuth: true,
  onAuth: (auth, _session, done) => done(null, { user: auth.username }),
});
const server = await startTestServer({
  settings: {
    ...provider.settings,
    LOG_LEVEL: 'trace',
    DEFAULT_TIER: 'BASIC',
    SMTP_URL: mailbox.url.replace('smtp://', 'smtp://somebody:canary-smtp@'),
    STRIPE_SECRET_KEY: 'canary-stripe-key',
    STRIPE_WEBHOOK_SECRET: 'canary-whsec',
  },
  openStore: async (dataDir) => {
    const store = await openSqliteStore(dataDir, QUERIES);
    return {
      ...store,
      createUser: failing(store.createUser),
      createSession: failing(store.createSession),
      replacePassword: failing(store.replacePassword),
      resetPassword: failing(store.resetPassword),
      createMailToken: failing(store.createMailToken),
      storeProvenIdentity: failing(store.storeProvenIdentity),
      saveRequest: failing(store.saveRequest),
      writeCaptures: failing(store.writeCaptures),
    };
  },
});
provider.serve(server.origin);
afterAll(async () => {
  await server.stop();
  await mailbox.close();
  await provider.close();
});

/** A call whose response is collected if it is a failure. */
async function call(
  client: TestClient,
  method: string,
  path: string,
  json?: unknown,
  headers: Record<string, string> = {},
): Promise<number> {
  const answer = await client.answerTo(path, { method, headers, ...(json === undefined ? {} : { json }) });
  if (answer.status >= 400) said.push(JSON.stringify(answer.body));
  return answer.status;
}

function remember(client: TestClient): void {
  for (const pair of client.jar.header().split('; ')) {
    const value = /^creel_\w[\w-]*=(.+)$/.exec(pair)?.[1];
    if (value !== undefined) secrets.add(value);
  }
}

async function mailedToken(): Promise<string> {
  const { text } = await mailbox.next();
  const token = new URL(/https?:\S+/.exec(text)?.[0] ?? 'missing:').searchParams.get('token') ?? '';
  secrets.add(token);
  return token;
}

/** Exercises a server with a secret in every possible place. */
async function live(client: TestClient, name: string): Promise<void> {
  const passwords = ['first', 'second', 'wrong', 'third'].map((one) => `canary-password-${name}-${one}`);
  for (const password of passwords) secrets.add(password);
  const [first, second, wrong, third] = passwords;
  const email = `${name}@example.com`;
  await call(client, 'POST', '/api/register', { username: name, email, password: first });
  await call(client, 'POST', '/api/register', { username: name, email, password: wrong });
  remember(client);
  await call(client, 'POST', '/api/login', { username: name, password: wrong });
  // Typed into the wrong field.
  await call(client, 'POST', '/api/login', { username: wrong, password: wrong });
  await call(client, 'POST', '/api/login', { username: name, password: first });
  remember(client);
  await call(client, 'PUT', '/api/profile/password', {
    currentPassword: wrong,
    newPassword: second,
    confirmPassword: second,
  });
  await call(client, 'PUT', '/api/profile/password', {
    currentPassword: first,
    newPassword: second,
    confirmPassword: second,
  });
  remember(client);
  await call(client, 'POST', '/api/test-email', { email });
  await call(client, 'POST', '/api/nothing', { password: second });
  await call(client, 'POST', '/api/login', { username: name, password: { canary: second } });
  await call(client, 'DELETE', '/api/user', { password: wrong });
  await call(client, 'POST', '/api/password-reset/confirm', { token: 'canary-token', password: third });
}

async function capture(client: TestClient, uid: string): Promise<void> {
  const headers = {
    authorization: 'Bearer canary-authorization',
    cookie: 'canary-cookie=1',
    'x-api-key': 'canary-api-key',
    'user-agent': 'x{"level":60}',
  };
  await call(client, 'POST', `/h/${uid}/canary-path?token=canary-query`, 'canary-body', headers);
  await call(client, 'POST', `/h/${uid}x/canary-path`, 'canary-body', headers);
  await call(client, 'POST', `/api/endpoints/${uid}/save-request`, { index: 0 });
}

test('no secret is in any log line, error or metric', async () => {
  const client = server.visitor();
  for (const secret of [
    'canary-authorization',
    'canary-cookie',
    'canary-api-key',
    'canary-path',
    'canary-query',
    'canary-body',
    'canary-token',
    'canary-code',
  ])
    secrets.add(secret);
  await live(client, 'canary-one');
  const { uid } = await client.call('createEndpoint', { body: {} });
  await capture(client, uid);
  await call(client, 'POST', '/api/password-reset', { email: 'canary-one@example.com' });
  await mailbox.next();
  await call(client, 'POST', '/api/password-reset/confirm', {
    token: await mailedToken(),
    password: 'canary-password-by-mail',
  });
  secrets.add('canary-password-by-mail');

  provider.person = { sub: 'canary-sub', email: 'canary-two@example.com', email_verified: true, name: 'Two' };
  const other = server.visitor();
  const path = await walk(provider, other);
  const { searchParams } = new URL(path, server.origin);
  for (const name of ['code', 'state']) secrets.add(searchParams.get(name) ?? '');
  remember(other);
  await call(other, 'GET', `${path}x`);
  await call(other, 'GET', '/auth/oidc/callback?code=canary-code&state=canary-code');
  await call(other, 'POST', '/api/google-login', await prove(provider, other));
  remember(other);

  broken = true;
  const third = server.visitor();
  await live(third, 'canary-three');
  await capture(client, uid);
  await call(client, 'POST', '/api/login', { username: 'canary-one', password: 'canary-password-by-mail' });
  await call(client, 'POST', '/api/password-reset', { email: 'canary-one@example.com' });
  const walked = await walk(provider, third);
  remember(third);
  await call(third, 'GET', walked);
  broken = false;

  said.push(await (await client.send('/metrics')).text());
  // An empty log would contain no secret either.
  const log = server.log();
  expect(log.match(/"msg":"a call failed"/g)?.length).toBeGreaterThanOrEqual(2);
  expect(log).toContain('constraint failed');
  expect(said.length).toBeGreaterThanOrEqual(15);
  expect(secrets.size).toBeGreaterThanOrEqual(25);
  expect(secrets).not.toContain('');
  const everything = [log, ...said].join('\n');
  expect([...secrets].filter((secret) => everything.includes(secret))).toEqual([]);
  // Derived values must not appear either: hashes can be attacked.
  expect(everything).not.toMatch(/argon2id|Failing row/);
  for (const line of log.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
});
