import { createSign, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import { CookieJar } from './cookie-jar.ts';
import type { TestClient } from './test-client.ts';

export const CLIENT_ID = 'creel';
export const CLIENT_SECRET = 'canary-oidc-client-secret';

/** What the provider says about the person who signs in. */
export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export type JwtParts = { header: Record<string, unknown>; payload: Record<string, unknown> };

export interface TestProvider {
  /** The issuer, for OIDC_ISSUER. */
  readonly url: string;
  /** Environment variables that point Creel at it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Who signs in next. */
  person: Person;
  /** Changes the ID token on its way out; what it returns is sent. `sign` makes a token with the provider's own key. */
  tamper: ((parts: JwtParts, sign: (parts: JwtParts) => string, key: KeyObject) => string) | undefined;
  /** What the provider answers at the authorization endpoint in place of asking anybody. */
  deny: boolean;
  /** Whether codes are given out to requests without PKCE. */
  allowWithoutPkce: boolean;
  /** Tells it Creel's address, which is known only once Creel runs. */
  readonly serve: (creelOrigin: string) => void;
  /** Goes from Creel's start to where the provider sends the browser back: path and query at Creel. */
  readonly walk: (browser: TestClient) => Promise<string>;
  /** Follows an authorization request by hand. */
  readonly authorize: (url: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

const MOST_STEPS = 12;

/** A real OpenID provider in this process; its people sign in by being named. */
export async function startTestProvider(): Promise<TestProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  let handler: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => handler?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const sign = (parts: JwtParts): string => signJwt(parts, privateKey);

  async function authorize(start: string): Promise<string> {
    const jar = new CookieJar();
    let at = start;
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const answer = await fetch(at, { redirect: 'manual', headers: { cookie: jar.header() } });
      jar.take(answer.headers);
      const location = answer.headers.get('location');
      if (location === null)
        throw new Error(`The provider stopped at ${at} with ${answer.status}: ${await answer.text()}`);
      const next = new URL(location, at);
      if (next.origin !== url) return next.pathname + next.search;
      at = next.href;
    }
    throw new Error('The provider never came to an end.');
  }

  const self: TestProvider = {
    url,
    settings: { OIDC_ISSUER: url, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET, OIDC_NAME: 'Acme' },
    person: { sub: 'nobody' },
    tamper: undefined,
    deny: false,
    allowWithoutPkce: false,
    serve(creelOrigin) {
      const provider = createProvider(url, creelOrigin, privateKey, self);
      const callback = provider.callback();
      handler = (request, response) => {
        if (request.url?.startsWith('/interaction/')) return void interact(provider, self, request, response);
        if (request.url?.startsWith('/token') && self.tamper !== undefined) {
          const { tamper } = self;
          changeAnswer(response, (parts) => tamper(parts, sign, publicKey));
        }
        callback(request, response);
      };
    },
    async walk(browser) {
      const start = await browser.send('/auth/oidc/start');
      const location = start.headers.get('location');
      if (location === null)
        throw new Error(`Creel did not send the browser on: ${start.status} ${await start.text()}`);
      return authorize(location);
    },
    authorize,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return self;
}

function createProvider(issuer: string, creelOrigin: string, key: KeyObject, self: TestProvider): Provider {
  const provider = new Provider(issuer, {
    clients: [
      { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [`${creelOrigin}/auth/oidc/callback`] },
    ],
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'test' }] },
    cookies: { keys: ['a key for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => !self.allowWithoutPkce },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...self.person, sub }) }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client?.clientId,
        accountId: context.oidc.session?.accountId,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    renderError(context, out) {
      context.body = JSON.stringify(out);
    },
  });
  // It warns of plain http and of keys made for tests.
  provider.on('server_error', () => undefined);
  return provider;
}

async function interact(
  provider: Provider,
  self: TestProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const result = self.deny ? { error: 'access_denied' } : { login: { accountId: self.person.sub } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** Replaces the ID token in a token answer before it leaves. */
function changeAnswer(response: ServerResponse, change: (parts: JwtParts) => string): void {
  const end = response.end.bind(response);
  response.end = (body?: unknown) => {
    const answer: unknown = JSON.parse(String(body));
    const token = typeof answer === 'object' && answer !== null && 'id_token' in answer ? String(answer.id_token) : '';
    const text = JSON.stringify({ ...(typeof answer === 'object' ? answer : {}), id_token: change(readJwt(token)) });
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  };
}

function readJwt(token: string): JwtParts {
  const [header = '', payload = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  return { header: asObject(header), payload: asObject(payload) };
}

function asObject(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Header and payload as they are signed. */
export function jwtInput({ header, payload }: JwtParts): string {
  return [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

function signJwt(parts: JwtParts, key: KeyObject): string {
  const input = jwtInput(parts);
  return `${input}.${createSign('RSA-SHA256').update(input).sign(key, 'base64url')}`;
}
