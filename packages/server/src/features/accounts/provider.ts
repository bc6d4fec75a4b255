import { PROVIDER_LOGIN_MS } from '../../http/cookies.ts';
import { emailSchema } from '@creel/contract';
import {
  AuthorizationResponseError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  None,
  ResponseBodyError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { CustomFetchOptions } from 'openid-client';
import { z } from 'zod';
import type { OidcConfig } from '../../config.ts';
import { codeOf } from '../../error-code.ts';
import type { ProvenIdentity } from './identity-queries.ts';
import { SealedText } from '../../secrets.ts';
import { readBounded } from '../../limits/read-bounded.ts';

/** Milliseconds until the provider's metadata and keys are read again. */
const METADATA_MS = 60 * 60_000;
/** Where the provider sends the browser back. */
export const CALLBACK_PATH = '/auth/oidc/callback';
const MAX_NAME = 100;

/** Why a provider login failed. `denied`: the user declined. */
export type ProviderFailure = 'login-lost' | 'denied' | 'unreachable' | 'refused';

/** A provider login failed. The message is for the log. */
export class ProviderProblem extends Error {
  override readonly name = 'ProviderProblem';
  readonly failure: ProviderFailure;

  /** `reason` is for the log and never contains text from the provider. */
  constructor(failure: ProviderFailure, reason: string) {
    super(reason);
    this.failure = failure;
  }
}

const pendingLoginSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  page: z.string().optional(),
});
type PendingLogin = z.infer<typeof pendingLoginSchema>;

const claimsSchema = z.object({
  iss: z.string().max(500),
  // OpenID Connect Core 2: at most 255 ASCII characters. Rejects values that a database would change or reject, because
  // two users must never become one.
  sub: z
    .string()
    .min(1)
    .max(255)
    .refine((sub) => sub.isWellFormed() && !sub.includes('\0')),
  email: z.string().nullish(),
  // Some providers send text.
  email_verified: z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]).nullish(),
  name: z.string().nullish(),
});
type Claims = z.output<typeof claimsSchema>;

/**
 * Client of the OpenID provider: authorization code flow with PKCE, state and nonce. The state between the two steps is
 * encrypted and kept in the browser that started, so that no other browser can finish.
 */
export class Provider {
  readonly #config: OidcConfig;
  readonly #publicUrl: () => string;
  readonly #sealed: SealedText;
  readonly #now: () => number;
  #metadata: { readonly readAt: number; readonly configuration: Promise<Configuration> } | undefined;

  constructor(config: OidcConfig, publicUrl: () => string, secret: string, now: () => number) {
    this.#config = config;
    this.#publicUrl = publicUrl;
    this.#sealed = new SealedText(secret, 'sign-in attempt', now);
    this.#now = now;
  }

  /**
   * The URL to send the user to, the state in it, and the pending login that the browser must bring back. `page` is the
   * name that the opening page gave this login. @throws ProviderProblem
   */
  async begin(page: string | undefined): Promise<{ url: string; state: string; pending: string }> {
    const configuration = await this.#configuration();
    const pending: PendingLogin = {
      state: randomState(),
      nonce: randomNonce(),
      codeVerifier: randomPKCECodeVerifier(),
      page,
    };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.#publicUrl() + CALLBACK_PATH,
      scope: 'openid email profile',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
    });
    return {
      url: url.href,
      state: pending.state,
      pending: this.#sealed.seal(JSON.stringify(pending), PROVIDER_LOGIN_MS),
    };
  }

  /** The login that a browser brought back; `undefined` when it is not ours, or too old. */
  open(sealed: string | undefined): PendingLogin | undefined {
    const opened = sealed === undefined ? undefined : this.#sealed.open(sealed);
    return opened === undefined ? undefined : pendingLoginSchema.parse(JSON.parse(opened));
  }

  /** The identity of a returning user. The browser brought `pending` back. @throws ProviderProblem */
  async finish(query: string, pending: PendingLogin | undefined): Promise<ProvenIdentity> {
    if (pending === undefined) throw new ProviderProblem('login-lost', 'the browser sent no pending login');
    const { state, nonce, codeVerifier } = pending;
    const configuration = await this.#configuration();
    try {
      const tokens = await authorizationCodeGrant(configuration, new URL(this.#publicUrl() + CALLBACK_PATH + query), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims = claimsSchema.parse(tokens.claims());
      return toIdentity(claims.email ? claims : await this.#askForEmail(configuration, tokens.access_token, claims));
    } catch (error) {
      throw toProblem(error);
    }
  }

  /** Some providers return the address only from the userinfo endpoint (OpenID Connect Core 5.4). */
  async #askForEmail(configuration: Configuration, accessToken: string, claims: Claims): Promise<Claims> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const answer = await fetchUserInfo(configuration, accessToken, claims.sub);
    return claimsSchema.parse({
      ...claims,
      email: answer.email,
      email_verified: answer.email_verified,
      name: answer.name ?? claims.name,
    });
  }

  async #configuration(): Promise<Configuration> {
    if (this.#metadata === undefined || this.#now() - this.#metadata.readAt > METADATA_MS) {
      this.#metadata = { readAt: this.#now(), configuration: discover(this.#config) };
    }
    const metadata = this.#metadata;
    try {
      return await metadata.configuration;
    } catch (error) {
      if (this.#metadata === metadata) this.#metadata = undefined;
      throw toProblem(error);
    }
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
  const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
  const found = await discovery(new URL(issuer), clientId, undefined, None(), {
    [customFetch]: providerFetch,
    execute,
  });
  const metadata = found.serverMetadata();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const configuration = new Configuration(metadata, clientId, {}, authenticate(clientSecret, methods));
  configuration[customFetch] = providerFetch;
  for (const allow of execute) allow(configuration);
  // Checks signatures although the token comes directly from the provider, because a test setup may use plain http.
  enableNonRepudiationChecks(configuration);
  // Throws without a usable login page, so that such metadata is not kept.
  buildAuthorizationUrl(configuration, {});
  return configuration;
}

function authenticate(secret: string | undefined, methods: readonly string[]) {
  if (secret === undefined) return None();
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

function toIdentity(claims: Claims): ProvenIdentity {
  // An invalid address counts as none.
  const email = emailSchema
    .nullable()
    .catch(null)
    .parse(claims.email ?? null);
  // `Cs` is half of a surrogate pair. JSON allows it, but a database would return something else.
  const shown = claims.name?.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '').trim() ?? '';
  const name = truncate(shown, MAX_NAME) || null;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email,
    emailVerified: email !== null && claims.email_verified === true,
    displayName: name ?? email?.split('@')[0] ?? null,
  };
}

/** Uses codes and names only: text from the provider or browser may contain secrets. */
function toProblem(error: unknown): ProviderProblem {
  if (error instanceof ProviderProblem) return error;
  if (error instanceof Error && error.cause instanceof ProviderProblem) return error.cause;
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code } = error;
    return new ProviderProblem(
      code === 'access_denied' ? 'denied' : 'refused',
      `the provider answered ${/^\w{1,40}$/.test(code) ? code : 'an error'}`,
    );
  }
  const code = codeOf(error) ?? '';
  const name = error instanceof Error ? error.name : 'unknown';
  const isNetwork =
    code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || name === 'TimeoutError' || isFetchFailure(error);
  return new ProviderProblem(isNetwork ? 'unreachable' : 'refused', namesAndCodes(error) || name);
}

/** Of an error and its causes, because the cause of a failed `fetch` has the code, such as `ECONNREFUSED`. */
function namesAndCodes(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return [error.name, codeOf(error), namesAndCodes(error.cause)].filter(Boolean).join(' ');
}

/** `fetch` throws a TypeError with the network error as its cause; openid-client may wrap it again. */
function isFetchFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error instanceof TypeError && error.message === 'fetch failed') || isFetchFailure(error.cause);
}

/** The first `maxLength` UTF-16 units, without half of a surrogate pair, which databases change or reject. */
export function truncate(text: string, maxLength: number): string {
  const cut = text.slice(0, maxLength);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** Limits of one response from the provider, in milliseconds and bytes. */
const MAX_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/**
 * `fetch` for the login provider, whose URL no user chooses. Limits time and size, and follows no redirects.
 * @throws ProviderProblem for a server error (5xx)
 */
async function providerFetch(url: string, init: CustomFetchOptions): Promise<globalThis.Response> {
  const tooSlow = AbortSignal.timeout(MAX_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, tooSlow]) : tooSlow;
  const answer = await fetch(url, { ...init, body: init.body ?? null, signal, redirect: 'manual' });
  if (answer.status >= 500) throw new ProviderProblem('unreachable', `the provider answered ${answer.status}`);
  return readBounded(answer, MAX_BYTES);
}
