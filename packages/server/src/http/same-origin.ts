import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * True when a browser says that the call comes from another origin. Programs send neither header and are let through: they have no
 * cookie that they did not get themselves (contract 1). `Sec-Fetch-Site` can't be forged by a page; `Origin` covers older browsers.
 */
export function isFromElsewhere(headers: IncomingMessage['headers'], publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const origin = headers.origin;
  return origin !== undefined && origin !== new URL(publicUrl).origin && origin !== ownOrigin(headers.host, publicUrl);
}

export function changesState(method: string): boolean {
  return !SAFE_METHODS.has(method);
}

/**
 * On plain http the server is reached under several names (localhost, 127.0.0.1); each is its own origin. Behind https only one is.
 * A name of somebody else's that was made to point here (DNS rebinding) is none of them, although browsers take its pages for ours:
 * they could register, and send requests into this network. Only where no name was configured and every address is listened on can
 * nobody tell which names are ours.
 */
function ownOrigin(host: string | undefined, publicUrl: string): string | undefined {
  if (host === undefined || publicUrl.startsWith('https:') || !URL.canParse(`http://${host}`)) return undefined;
  const { hostname, origin } = new URL(`http://${host}`);
  const own = new URL(publicUrl).hostname;
  const isOurs = hostname === own || hostname === 'localhost' || isAddress(hostname) || UNSPECIFIED.has(own);
  return isOurs ? origin : undefined;
}

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/** Addresses can't be pointed elsewhere, as names can. */
function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}
