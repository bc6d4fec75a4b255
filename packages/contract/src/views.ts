import type { CapturedRequest } from './captured-request.ts';
import type { RawHeaders } from './raw-headers.ts';

/**
 * Parts of a captured request: maps of headers and queries for reading, the target, and the bytes of the body. Replays and signatures use
 * the raw pairs and the raw target, because maps lose order and case.
 */

/** A map without a prototype, so that `__proto__` is an ordinary name. */
function emptyMap<T>(): Record<string, T> {
  const map: Record<string, T> = Object.create(null);
  return map;
}

/** Names in lower case. Repeated values are joined with `, `, or `; ` for `cookie` (RFC 9110, section 5.3; RFC 6265, section 5.4). */
export function headerMap(rawHeaders: RawHeaders): Record<string, string> {
  const map = emptyMap<string>();
  for (const [rawName, value] of rawHeaders) {
    const name = rawName.toLowerCase();
    const before = map[name];
    map[name] = before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value;
  }
  return map;
}

/** A content coding that bodies are decoded from (RFC 9110, section 8.4.1). */
export type ContentCoding = 'gzip' | 'deflate' | 'br';

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);

/** Maximum number of codings of one body that are decoded. Each one costs time and memory. */
export const MAX_CONTENT_CODINGS = 4;

/** The names in a `Content-Encoding`, in the order in which the codings were applied, without `identity`. */
export function codingNamesOf(contentEncoding: string | undefined): string[] {
  return (contentEncoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
}

/** The coding with a name of `codingNamesOf`; `undefined` for other ones. */
export function contentCodingOf(name: string): ContentCoding | undefined {
  return CODINGS.get(name);
}

/** The codings to decode a body from, in the order in which they were applied. Empty if not all of them can be decoded. */
export function contentCodingsOf(contentEncoding: string | undefined): ContentCoding[] {
  const names = codingNamesOf(contentEncoding);
  const codings = names.map(contentCodingOf).filter((coding) => coding !== undefined);
  return codings.length === names.length && names.length <= MAX_CONTENT_CODINGS ? codings : [];
}

/**
 * Returns the coding of some bytes that declare `coding`. `deflate` means zlib, but some senders omit its header (RFC
 * 9110, section 8.4.1.2; RFC 1950, section 2.2).
 */
export function actualCoding(
  coding: ContentCoding,
  [first = 0, second = 0]: Uint8Array,
): ContentCoding | 'deflate-raw' {
  const hasZlibHeader = first % 16 === 8 && (first * 256 + second) % 31 === 0;
  return coding === 'deflate' && !hasZlibHeader ? 'deflate-raw' : coding;
}

/** Decodes a query, without its `?`, like a form. A repeated name has an array of values. Never throws. */
export function queryMap(query: string): Record<string, string | string[]> {
  const map = emptyMap<string | string[]>();
  // The constructor drops one leading question mark, even if it belongs to the first name.
  for (const [name, value] of new URLSearchParams(`?${query}`)) {
    const before = map[name];
    if (before === undefined) map[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else map[name] = [before, value];
  }
  return map;
}

type Target = Pick<CapturedRequest, 'rawTarget' | 'queryParams'>;

/** Returns the part of the target after `/h/{uid}` as sent. Without `rawTarget`, builds it from the path and the map. */
export function targetOf(request: Target & Pick<CapturedRequest, 'path'>): string {
  return request.rawTarget ?? (request.path === '/' ? '' : request.path) + queryOf(request);
}

/** Returns the query as sent, with its `?`, or an empty string. Without `rawTarget`, builds it from the map. */
export function queryOf({ rawTarget, queryParams }: Target): string {
  if (rawTarget !== undefined) return /\?.*$/s.exec(rawTarget)?.[0] ?? '';
  const pairs = Object.entries(queryParams).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** Returns the decoded names and values of the query in the order in which they were sent. */
export function queryPairs(target: Target): [string, string][] {
  return [...new URLSearchParams(queryOf(target))];
}

/** Returns the bytes of a body in an API response: UTF-8 of text, decoded base64, or none. */
export function bodyBytesOf({
  body,
  bodyEncoding,
}: Pick<CapturedRequest, 'body' | 'bodyEncoding'>): Uint8Array<ArrayBuffer> {
  if (body === null) return new Uint8Array();
  if (bodyEncoding === 'utf8') return new TextEncoder().encode(body);
  const binary = atob(body);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
