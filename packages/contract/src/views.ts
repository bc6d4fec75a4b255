import type { CapturedRequest, RawHeaders } from './captured-request.ts';

/**
 * Views of what was sent. The truth is the raw pairs and the raw target; these maps are made from them for reading, and nothing
 * is ever sent or signed from a map.
 */

/** Maps without a prototype, so that a header or parameter called `__proto__` is a name like any other. */
function emptyMap<T>(): Record<string, T> {
  const map: Record<string, T> = Object.create(null);
  return map;
}

/** Lower-case names; a repeated name has its values joined with `, `, `cookie` with `; ` (contract 2, RFC 9110 5.3, RFC 6265 5.4). */
export function headerMap(rawHeaders: RawHeaders): Record<string, string> {
  const map = emptyMap<string>();
  for (const [rawName, value] of rawHeaders) {
    const name = rawName.toLowerCase();
    const before = map[name];
    map[name] = before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value;
  }
  return map;
}

/** The first value of a header by its lower-case name. */
export function firstHeader(rawHeaders: RawHeaders, name: string): string | undefined {
  return rawHeaders.find(([rawName]) => rawName.length === name.length && rawName.toLowerCase() === name)?.[1];
}

/** The query as a map; a repeated name has the list of its values in order. Decoded as a form would be, never failing. */
export function queryMap(query: string): Record<string, string | string[]> {
  const map = emptyMap<string | string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = map[name];
    if (before === undefined) map[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else map[name] = [before, value];
  }
  return map;
}

type Target = Pick<CapturedRequest, 'rawTarget' | 'queryParams'>;

/** What follows `/h/{uid}` with the query, as sent; without the raw target, put together from path and map. */
export function targetOf(request: Target & Pick<CapturedRequest, 'path'>): string {
  return request.rawTarget ?? (request.path === '/' ? '' : request.path) + queryOf(request);
}

/** The query as sent, with its `?`; empty where there was none. Without the raw target it is spelled anew from the map. */
export function queryOf({ rawTarget, queryParams }: Target): string {
  if (rawTarget !== undefined) return /\?.*$/s.exec(rawTarget)?.[0] ?? '';
  const pairs = Object.entries(queryParams).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** Names and values of the query, decoded as a form would be, in the order in which they were sent. */
export function queryPairs(target: Target): [string, string][] {
  return [...new URLSearchParams(queryOf(target))];
}
