import type { FastifyReply, FastifyRequest } from 'fastify';

/** Time limit of a third-party login, from its start to the account. */
export const PROVIDER_LOGIN_MS = 10 * 60_000;
/** Maximum number of third-party logins that run in a browser at the same time. */
export const MAX_FLOWS = 5;
const DAY_S = 24 * 3600;

/** One of our cookies. All are `HttpOnly`, valid for the whole site, and `Secure` if the public URL is https. */
interface Cookie {
  readonly name: string;
  readonly maxAgeS: number;
}

/** The session's token. Its age is the maximum age of a session; the server ends it earlier. */
export const SESSION: Cookie = { name: 'creel_session', maxAgeS: 90 * DAY_S };
/** The users who have logged in from this browser; see `KnownBrowsers`. Its age is the longest of a cookie (RFC 6265bis). */
export const KNOWN_BROWSER: Cookie = { name: 'creel_browser', maxAgeS: 400 * DAY_S };
/**
 * The state of a provider login. `Lax` like all, so that the browser sends it when the provider redirects back. Each
 * login has a separate cookie (`ofFlow`).
 */
export const PENDING_LOGIN: Cookie = { name: 'creel_attempt', maxAgeS: PROVIDER_LOGIN_MS / 1000 };
/** The handle of the identity that the provider confirmed. Each login has a separate cookie. */
export const PROVEN_IDENTITY: Cookie = { name: 'creel_identity', maxAgeS: PROVIDER_LOGIN_MS / 1000 };

/** `__Host-` binds a cookie to https, this host and the root path. It does not work with plain http. */
function nameOf(cookie: Cookie, publicUrl: string): string {
  return publicUrl.startsWith('https:') ? `__Host-${cookie.name}` : cookie.name;
}

/** The cookie of one of several logins that run in a browser at the same time. `flow` has only `[A-Za-z0-9_-]`. */
export function ofFlow(cookie: Cookie, flow: string): Cookie {
  return { ...cookie, name: `${cookie.name}_${flow}` };
}

/** This cookie of each login that the browser sent. Browsers send older cookies first (RFC 6265, section 5.4). */
export function cookiesOfFlows(
  request: Pick<FastifyRequest, 'cookies'>,
  cookie: Cookie,
  publicUrl: string,
): readonly Cookie[] {
  const start = nameOf(ofFlow(cookie, ''), publicUrl);
  const names = Object.keys(request.cookies).filter((name) => name.startsWith(start));
  return names.map((name) => ofFlow(cookie, name.slice(start.length)));
}

/** The value as the browser sent it, so not yet checked. */
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

/** Our own cookies with their values. `readCookie` also reads them with space around `=`. */
const OWN_COOKIE = /((?:^|[;,\s])(?:__Host-)?creel_(?:session|browser|(?:attempt|identity)[\w-]*)\s*=\s*)[^;,\s]*/g;
const HIDDEN = '$1hidden-by-creel';

/**
 * Removes the values of our own cookies from a request's headers, in place. Capture URLs share the dashboard's origin,
 * so a browser sends its session cookie along, and the endpoint's owner could use it. This is the only change to a
 * captured request.
 */
export function hideOwnCookies(flatHeaders: string[]): void {
  for (let at = 0; at < flatHeaders.length; at += 2) {
    const name = flatHeaders[at];
    if (name?.length !== 6 || name.toLowerCase() !== 'cookie') continue;
    const value = flatHeaders[at + 1] ?? '';
    if (value.includes('creel_')) flatHeaders[at + 1] = value.replace(OWN_COOKIE, HIDDEN);
  }
}
