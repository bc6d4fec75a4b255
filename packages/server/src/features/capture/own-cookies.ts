/** Our own cookies with their values; the names are in http/cookies.ts. */
const OWN_COOKIE = /((?:^|[;,\s])(?:__Host-)?creel_(?:session|browser|attempt|identity)=)[^;,\s]*/g;
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
