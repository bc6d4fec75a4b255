import { z } from 'zod';

/** `[name, value]` pairs exactly as received: case, order and repeats. */
export const rawHeadersSchema = z.array(z.tuple([z.string(), z.string()]));
export type RawHeaders = z.infer<typeof rawHeadersSchema>;

/** Returns the pairs of a list of names and values in turn, as Node's HTTP modules have it. */
export function rawHeadersOf(flat: readonly string[]): RawHeaders {
  const pairs: RawHeaders = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}

/** Returns the first value of a header. `name` is in lower case. */
export function firstHeader(rawHeaders: RawHeaders, name: string): string | undefined {
  return rawHeaders.find(([rawName]) => rawName.length === name.length && rawName.toLowerCase() === name)?.[1];
}

/** Returns the values of a header, in order. `name` is in lower case. */
function headerValues(rawHeaders: RawHeaders, name: string): string[] {
  return rawHeaders.filter(([rawName]) => rawName.toLowerCase() === name).map(([, value]) => value);
}

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

/** Headers that forwarding adds or replaces: the marks of all who forwarded the request, the delivery, and the attempt. */
export const FORWARDING_HEADERS = { via: 'Creel-Via', delivery: 'Creel-Delivery', attempt: 'Creel-Attempt' } as const;
const FORWARDING_NAMES: ReadonlySet<string> = new Set(
  Object.values(FORWARDING_HEADERS).map((name) => name.toLowerCase()),
);

/** Whether forwarding replaces the header of this name. */
export function isForwardingHeader(name: string): boolean {
  return FORWARDING_NAMES.has(name.toLowerCase());
}

/** A request that was forwarded this many times is not forwarded again. */
const MAX_HOPS = 3;

/** Returns the marks of all who forwarded a request, in order. A mark identifies an installation, or a `creel forward` of an endpoint. */
function forwardingMarks(headers: RawHeaders): string[] {
  return headerValues(headers, FORWARDING_HEADERS.via.toLowerCase())
    .flatMap((value) => value.split(','))
    .map((mark) => mark.trim())
    .filter((mark) => mark !== '');
}

/** Returns the `Creel-Via` header of a forwarded request: the marks that it had, then the forwarder's own. */
export function viaHeader(captured: RawHeaders, ownMark: string): RawHeaders[number] {
  return [FORWARDING_HEADERS.via, [...forwardingMarks(captured), ownMark].join(', ')];
}

/**
 * Why the forwarder with this mark must not forward a request, or `undefined` if it may. `earlier` is the clause for a request that
 * already has the mark: "it was forwarded from this endpoint".
 */
export function loopRefusal(captured: RawHeaders, ownMark: string, earlier: string): string | undefined {
  const marks = forwardingMarks(captured);
  if (marks.includes(ownMark)) return `Not forwarded: ${earlier} before, so it would go in a loop`;
  return marks.length < MAX_HOPS ? undefined : `Not forwarded: the request was forwarded ${MAX_HOPS} times already`;
}

/** Returns the header names in the `Connection` header, in lower case. */
function namedByConnection(headers: RawHeaders): ReadonlySet<string> {
  return new Set(headerValues(headers, 'connection').flatMap((value) => value.toLowerCase().match(/[^\s,]+/g) ?? []));
}

/** Returns the headers without hop-by-hop headers and those that `Connection` names. */
export function endToEndHeaders(headers: RawHeaders): RawHeaders {
  const named = namedByConnection(headers);
  return headers.filter(([name]) => !HOP_BY_HOP_HEADERS.has(name.toLowerCase()) && !named.has(name.toLowerCase()));
}
