/**
 * Where to go after sign-in: a path of this site, else the dashboard. Anything that a browser could take for another site
 * (`//host`, `/\host`, a scheme, control characters that it strips) counts as nothing.
 */
export function ownPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/') || !URL.canParse(next, PLACEHOLDER)) return HOME;
  const url = new URL(next, PLACEHOLDER);
  if (url.origin !== PLACEHOLDER || url.pathname.startsWith('//')) return HOME;
  // Back to a sign-in page leads nowhere, but to the one that a mailed link opens and that needs a session.
  if (/^\/auth(\/|$)/.test(url.pathname) && url.pathname !== '/auth/verify') return HOME;
  return url.pathname + url.search + url.hash;
}

const HOME = '/';
const PLACEHOLDER = 'https://creel.invalid';

/** Where the billing portal leads back to: a path or an address of this site, without one the plans, else the dashboard. */
export function returnPath(address: string | undefined, origin: string): string {
  if (address === undefined) return '/subscription';
  return ownPath(address.startsWith(`${origin}/`) ? address.slice(origin.length) : address);
}
