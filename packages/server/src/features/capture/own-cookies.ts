/** Our own cookies, as api/cookies.ts names them, with what stands behind the equals sign. */
const OWN_COOKIE = /((?:^|[;,\s])(?:__Host-)?creel_(?:session|browser|attempt|identity)=)[^;,\s]*/g;
const HIDDEN = '$1hidden-by-creel';

/**
 * Takes the values of our own cookies out of a request's headers, in place. Capture URLs are of the dashboard's origin, so a browser
 * that opens one sends its session along; the endpoint's owner could sign in with it. The one thing that is not kept as it was sent.
 */
export function hideOwnCookies(flatHeaders: string[]): void {
  for (let at = 0; at < flatHeaders.length; at += 2) {
    const name = flatHeaders[at];
    if (name?.length !== 6 || name.toLowerCase() !== 'cookie') continue;
    const value = flatHeaders[at + 1] ?? '';
    if (value.includes('creel_')) flatHeaders[at + 1] = value.replace(OWN_COOKIE, HIDDEN);
  }
}
