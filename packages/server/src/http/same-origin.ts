import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostOf } from '../url-host.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * True when a browser declares that the call comes from another origin. Programs send neither header and are allowed,
 * because a page can't give them a cookie. A page can't forge `Sec-Fetch-Site`; `Origin` covers older browsers.
 */
export function isCrossOrigin(headers: IncomingMessage['headers'], publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { host, origin } = headers;
  return origin !== undefined && !isOwnOrigin(origin, host, publicUrl);
}

/** True for the origin of the public URL, and for the one under which the browser reached this server at `host`. */
export function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  return origin === new URL(publicUrl).origin || origin === ownOrigin(host, publicUrl);
}

/** False for the safe methods (RFC 9110, section 9.2.1), except `TRACE`. */
export function changesState(method: string): boolean {
  return !SAFE_METHODS.has(method);
}

/**
 * The origin of this server for a request. Over plain http it has several names (localhost, 127.0.0.1), behind https
 * one. Pages of a foreign name that points here (DNS rebinding) must not call the API. A server on every address
 * without a configured name does not know its names.
 */
function ownOrigin(host: string | undefined, publicUrl: string): string | undefined {
  if (host === undefined || publicUrl.startsWith('https:') || !URL.canParse(`http://${host}`)) return undefined;
  const url = new URL(`http://${host}`);
  const own = new URL(publicUrl).hostname;
  // DNS rebinding needs a name, so an address is safe.
  const isAddress = isIP(hostOf(url)) !== 0;
  const isOurs = url.hostname === own || url.hostname === 'localhost' || isAddress || UNSPECIFIED.has(own);
  return isOurs ? url.origin : undefined;
}

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);
