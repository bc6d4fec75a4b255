import {
  bodyBytesOf,
  firstHeader,
  matcherOf,
  needsBody,
  parseQuery,
  printQuery,
  searchableRequest,
  termsOf,
  codingNamesOf,
} from '@creel/contract';
import type { Term } from '@creel/contract';
import { currentTime } from '../ui/state.ts';
import type { ListedRequest } from './request-list.ts';

/** The requests that a list contains. */
export interface RequestFilter {
  readonly method?: string | undefined;
  /** A query that `parseQuery` accepts: docs/query-language.md. */
  readonly query?: string | undefined;
}

/** Every request of the endpoint. */
export const ALL_REQUESTS: RequestFilter = {};

/**
 * Tells whether a request belongs to a list. `undefined` if only the server can tell, because the row lacks headers,
 * the rest of its body, or the decoded body.
 */
export type Accepts = (row: ListedRequest) => boolean | undefined;

/** Relative times of the query count from now. */
export function acceptsOf({ method, query }: RequestFilter): Accepts {
  const hasMethod = (row: ListedRequest): boolean => method === undefined || row.method === method;
  if (query === undefined) return hasMethod;
  const parsed = parseQuery(query);
  if (!parsed.ok) return () => false;
  const matches = matcherOf(parsed.query, currentTime());
  const readsBody = needsBody(parsed.query);
  return (row) => {
    if (!hasMethod(row)) return false;
    if (row.slim !== undefined || (readsBody && !hasWholeBody(row))) return undefined;
    return matches(searchableRequest(row, () => bodyBytesOf(row)));
  };
}

function hasWholeBody(row: ListedRequest): boolean {
  return !row.bodyTruncated && codingNamesOf(firstHeader(row.rawHeaders, 'content-encoding')).length === 0;
}

function hasTerm({ query = '' }: RequestFilter, isWanted: (term: Term) => boolean): boolean {
  const parsed = parseQuery(query);
  return parsed.ok && [...termsOf(parsed.query)].some(isWanted);
}

/** True if a delivery can change whether a request belongs to the list. */
export const readsDeliveries = (filter: RequestFilter): boolean =>
  hasTerm(filter, ({ kind }) => kind === 'status' || kind === 'is');

/** True if a save can change whether a request belongs to the list. */
export const readsSaves = (filter: RequestFilter): boolean =>
  hasTerm(filter, (term) => term.kind === 'is' && term.state.endsWith('saved'));

/** The query that the server searches for: that of the filter, and its method. */
export function searchText({ method, query = '' }: RequestFilter): string {
  const parsed = parseQuery(query);
  if (method === undefined || !parsed.ok) return query;
  return printQuery({ kind: 'and', parts: [{ kind: 'method', methods: [method] }, parsed.query] });
}
