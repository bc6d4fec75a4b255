import type { IncomingMessage } from 'node:http';

/** Facts of a head that are needed before its body is read. */
export interface HeadFacts {
  hostCount: number;
  /** Declared length of the body in bytes, or -1. */
  declaredLength: number;
  hasTransferEncoding: boolean;
  hasUpgrade: boolean;
  /** Has both headers of an upgrade (RFC 9110 7.8). */
  asksForUpgrade: boolean;
  isPreflight: boolean;
  requestedMethod: string;
  requestedHeaders: string;
  /** https://wicg.github.io/private-network-access */
  requestsPrivateNetwork: boolean;
}

/**
 * Reads the flat header list in one pass, which is cheaper than the map of `req.headers`. Compares the length of names
 * first.
 */
export function inspectHead(method: string, flatHeaders: readonly string[]): HeadFacts {
  const facts: HeadFacts = {
    hostCount: 0,
    declaredLength: -1,
    hasTransferEncoding: false,
    hasUpgrade: false,
    asksForUpgrade: false,
    isPreflight: false,
    requestedMethod: '',
    requestedHeaders: '',
    requestsPrivateNetwork: false,
  };
  let hasOrigin = false;
  let connection = '';
  for (let at = 0; at < flatHeaders.length; at += 2) {
    const name = flatHeaders[at] ?? '';
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') facts.hostCount += 1;
        break;
      case 6:
        if (name.toLowerCase() === 'origin') hasOrigin = true;
        break;
      case 7:
        if (name.toLowerCase() === 'upgrade') facts.hasUpgrade = true;
        break;
      case 10:
        if (name.toLowerCase() === 'connection') connection += `,${flatHeaders[at + 1]}`;
        break;
      case 14:
        if (name.toLowerCase() === 'content-length') facts.declaredLength = Number(flatHeaders[at + 1]);
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') facts.hasTransferEncoding = true;
        break;
      case 29:
        if (name.toLowerCase() === 'access-control-request-method') facts.requestedMethod = flatHeaders[at + 1] ?? '';
        break;
      case 30:
        if (name.toLowerCase() === 'access-control-request-headers') facts.requestedHeaders = flatHeaders[at + 1] ?? '';
        break;
      case 38:
        if (name.toLowerCase() === 'access-control-request-private-network') facts.requestsPrivateNetwork = true;
    }
  }
  facts.asksForUpgrade = facts.hasUpgrade && /,\s*upgrade\s*(,|$)/i.test(connection);
  facts.isPreflight = method === 'OPTIONS' && hasOrigin && facts.requestedMethod !== '';
  return facts;
}

/**
 * Rejects requests that two parsers could read differently and that Node's parser accepts: no Host or two of them (RFC
 * 9112 3.2), a transfer coding on HTTP/1.0 (6.1).
 */
export function isAmbiguous(request: Pick<IncomingMessage, 'httpVersion'>, head: HeadFacts): boolean {
  if (head.hostCount > 1) return true;
  return request.httpVersion === '1.1' ? head.hostCount === 0 : head.hasTransferEncoding;
}
