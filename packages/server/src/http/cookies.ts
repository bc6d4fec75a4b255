import type { FastifyReply, FastifyRequest } from 'fastify';

/** How long a browser is known after its owner has logged in. */
export const KNOWN_BROWSER_DAYS = 400;
/** How long a third-party login may take, from its start to the account. */
export const ATTEMPT_MS = 10 * 60_000;
const DAY_S = 24 * 3600;

/** One of our cookies. All are `HttpOnly`, for the whole site, and `Secure` where the public URL is https (contract 1). */
interface Cookie {
  readonly name: string;
  readonly maxAgeS: number;
}

/** The session's token. As old as a session can become; the server ends it before. */
export const SESSION: Cookie = { name: 'creel_session', maxAgeS: 90 * DAY_S };
/** Who has signed in from this browser before; see known-browsers.ts. */
export const KNOWN_BROWSER: Cookie = { name: 'creel_browser', maxAgeS: KNOWN_BROWSER_DAYS * DAY_S };
/** What a sign-in at the provider must bring back. `Lax`, as all: it is sent along when the provider sends the person back. */
export const PROVIDER_ATTEMPT: Cookie = { name: 'creel_attempt', maxAgeS: ATTEMPT_MS / 1000 };
/** The handle of the identity that was proved to the provider. */
export const PROVEN_IDENTITY: Cookie = { name: 'creel_identity', maxAgeS: ATTEMPT_MS / 1000 };

/** `__Host-` binds a cookie to https, this host and the root path; plain http can't have it. */
function nameOf(cookie: Cookie, publicUrl: string): string {
  return publicUrl.startsWith('https:') ? `__Host-${cookie.name}` : cookie.name;
}

export function readCookie(
  request: Pick<FastifyRequest, 'cookies'>,
  cookie: Cookie,
  publicUrl: string,
): string | undefined {
  return request.cookies[nameOf(cookie, publicUrl)];
}

export function setCookie(reply: FastifyReply, cookie: Cookie, publicUrl: string, value: string): void {
  void reply.setCookie(nameOf(cookie, publicUrl), value, { ...attributes(publicUrl), maxAge: cookie.maxAgeS });
}

export function clearCookie(reply: FastifyReply, cookie: Cookie, publicUrl: string): void {
  void reply.clearCookie(nameOf(cookie, publicUrl), attributes(publicUrl));
}

function attributes(publicUrl: string) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: publicUrl.startsWith('https:') } as const;
}
