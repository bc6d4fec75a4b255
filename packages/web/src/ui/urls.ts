import { tryDecode } from '@creel/contract';
import { parseSearchWith } from '@tanstack/react-router';

/**
 * Where to go after the login: a path of this site, else the dashboard. Rejects everything that a browser could
 * resolve to another site: `//host`, `/\host`, a scheme, control characters that it strips.
 */
export function ownPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/') || !URL.canParse(next, PLACEHOLDER)) return HOME;
  const url = new URL(next, PLACEHOLDER);
  if (url.origin !== PLACEHOLDER || url.pathname.startsWith('//')) return HOME;
  // The login pages are no destinations, except the one that an emailed link opens and that requires a session.
  if (/^\/auth(\/|$)/.test(url.pathname) && url.pathname !== '/auth/verify') return HOME;
  return url.pathname + url.search + url.hash;
}

/**
 * The login page, which returns to `next` after the login. The address bar shows only `/auth`, and a load of that address
 * forgets `next`.
 */
export const loginPage = (next: string) =>
  ({ to: '/auth', search: { next }, mask: { to: '/auth', unmaskOnReload: true } }) as const;

const HOME = '/';
const PLACEHOLDER = 'https://creel.invalid';

/**
 * Where the billing portal returns to: a path or URL of this site. The plans if there is none, the dashboard if it is
 * invalid.
 */
export function returnPath(address: string | undefined, origin: string): string {
  if (address === undefined) return '/subscription';
  return ownPath(address.startsWith(`${origin}/`) ? address.slice(origin.length) : address);
}

/** `localhost:4000/x`, `10.0.0.7`, `[::1]:80`, `app:3000`, `api.shop.test/hook`: host, port, and the rest. */
const WITHOUT_SCHEME = /^(\[[\da-f:.]+\]|[a-z\d-]+(?:\.[a-z\d-]+)*)(:\d{1,5})?(?:[/?#].*)?$/i;
const IP_ADDRESS = /^(\[.*\]|\d+(\.\d+){3})$/;

/**
 * Adds the scheme that a user left out: http for this machine, IP addresses, and hosts with a port; https for other
 * domain names. Returns any other text unchanged, without surrounding spaces.
 */
export function completeUrl(text: string): string {
  const url = text.trim();
  const [, host = '', port] = WITHOUT_SCHEME.exec(url) ?? [];
  if (host === '') return url;
  if (port !== undefined || IP_ADDRESS.test(host) || /(^|\.)localhost$/i.test(host)) return `http://${url}`;
  return host.includes('.') ? `https://${url}` : url;
}

/**
 * The parameters of a page. By default the router reads each as JSON, which rounds long numbers and changes `1.50`. Only
 * what the router itself has quoted is JSON here. It quotes a text that is JSON itself, so the quotes of any other text
 * are the user's.
 */
export const parseSearch = parseSearchWith((text) => {
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' && tryDecode(() => JSON.parse(value)) !== undefined ? value : text;
});
