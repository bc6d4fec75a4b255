import type { RawHeaders } from './raw-headers.ts';

/** Hop-by-hop headers (RFC 9110, section 7.6.1). They describe the connection, so they are not forwarded. */
const HOP_BY_HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the header names in the `Connection` header, in lower case. */
function namedByConnection(headers: RawHeaders): ReadonlySet<string> {
  return new Set(
    headers
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((name) => name.trim().toLowerCase()),
  );
}

/** Returns the headers without hop-by-hop headers and those that `Connection` names. */
export function endToEndHeaders(headers: RawHeaders): RawHeaders {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => !HOP_BY_HOP_HEADERS.has(name.toLowerCase()) && !named.has(name.toLowerCase()));
}
