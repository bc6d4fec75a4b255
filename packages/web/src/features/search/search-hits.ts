import { bodyBytesOf, foldCase, parseQuery, queryOf, tryDecode } from '@creel/contract';
import type { FoundRequest, Query } from '@creel/contract';
import { readable } from '../../bodies/encoding.ts';
import { findText } from '../../bodies/find-text.ts';
import type { Found } from '../../bodies/find-text.ts';

/** The matches of a search in a text. Folds only ASCII, like the search, so positions stay. */
export const hitsIn = (text: string, query: string): Found[] => findText(foldCase(text), foldCase(query), 'g');

/** Characters. With more, the match would be outside of a phone's screen. */
const BEFORE = 16;
const AFTER = 160;

/** The text around the first match on one line, with ellipses; `undefined` if there is no match. */
export function excerpt(text: string, query: string): string | undefined {
  const at = foldCase(text).indexOf(foldCase(query));
  if (at === -1) return undefined;
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(text.length, at + query.length + AFTER);
  const line = text.slice(from, to).replaceAll(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${line}${to < text.length ? '…' : ''}`;
}

/** The first text of the query that results may contain, for highlighting; empty if there is none. */
export function searchedText(q: string): string {
  const parsed = parseQuery(q);
  return parsed.ok ? (firstText(parsed.query) ?? '') : '';
}

function firstText(query: Query): string | undefined {
  if (query.kind === 'text' || query.kind === 'body') return query.text;
  if (query.kind !== 'and' && query.kind !== 'or') return undefined;
  return query.parts.map(firstText).find((text) => text !== undefined);
}

/**
 * Where in a request the text was found, with the text around it. The most informative match comes first: query, headers,
 * body. The row shows the path as sent anyway.
 */
export function searchHit(found: FoundRequest, q: string) {
  const query = queryOf(found).slice(1);
  const decoded = tryDecode(() => decodeURIComponent(query.replaceAll('+', ' ')));
  const inQuery = excerpt(decoded ?? query, q) ?? excerpt(query, q);
  if (inQuery !== undefined) return { place: 'Query', text: inQuery };
  for (const [name, value] of found.rawHeaders) {
    const inHeader = excerpt(`${name}: ${readable(value)}`, q);
    if (inHeader !== undefined) return { place: 'Header', text: inHeader };
  }
  const inBody = excerpt(loadedText(found), q);
  if (inBody !== undefined) return { place: 'Body', text: inBody };
  if (excerpt(found.path, q) !== undefined || excerpt(found.method, q) !== undefined) return undefined;
  const inPath = excerpt(tryDecode(() => decodeURIComponent(found.path)) ?? '', q);
  if (inPath !== undefined) return { place: 'Path', text: inPath };
  if (found.bodyTruncated) return { place: 'Body', text: 'further down in the body' };
  return found.bodyEncoding === 'base64' ? { place: 'Body', text: 'in the decoded body' } : undefined;
}

/** What the list has of the body. Bytes that are not UTF-8 become replacement characters. */
const loadedText = (found: FoundRequest): string =>
  found.bodyEncoding === 'utf8' ? (found.body ?? '') : new TextDecoder().decode(bodyBytesOf(found));
