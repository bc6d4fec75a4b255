import { parseQuery, queryOf } from '@creel/contract';
import type { FoundRequest, Query } from '@creel/contract';
import { excerpt } from './highlight.ts';

/** Where in a request the text was found, with the text around it. */
interface SearchHit {
  readonly place: string;
  readonly text: string;
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

/** The most informative match first: query, headers, body. The row shows the path anyway. */
export function searchHit(found: FoundRequest, q: string): SearchHit | undefined {
  const query = queryOf(found).slice(1);
  const inQuery = excerpt(decodeQuery(query), q) ?? excerpt(query, q);
  if (inQuery !== undefined) return { place: 'Query', text: inQuery };
  for (const [name, value] of found.rawHeaders) {
    const inHeader = excerpt(`${name}: ${value}`, q);
    if (inHeader !== undefined) return { place: 'Header', text: inHeader };
  }
  const inBody = found.bodyEncoding === 'utf8' ? excerpt(found.body ?? '', q) : undefined;
  if (inBody !== undefined) return { place: 'Body', text: inBody };
  if (excerpt(found.path, q) !== undefined || excerpt(found.method, q) !== undefined) return undefined;
  return { place: 'Body', text: 'further down in the body' };
}

function decodeQuery(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll('+', ' '));
  } catch {
    return query;
  }
}
