import type { IncomingMessage } from 'node:http';

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

/** On plain http the server is reached under several names (localhost, 127.0.0.1); each is its own origin. Behind https only one is. */
function ownOrigin(host: string | undefined, publicUrl: string): string | undefined {
  return host === undefined || publicUrl.startsWith('https:') ? undefined : `http://${host}`;
}
