/** Limits of a query. Text over a limit is rejected with the position of the term that exceeds it. */
export const MAX_QUERY_LENGTH = 2000;
export const MAX_QUERY_TERMS = 100;
export const MAX_QUERY_DEPTH = 50;

/**
 * A parsed query (grammar: docs/query-language.md). It is plain data, so it can be compared, stored and posted to a thread.
 * `and` without parts matches every request.
 */
export type Query =
  | { readonly kind: 'and'; readonly parts: readonly Query[] }
  | { readonly kind: 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | Term;

/** A text pattern as the literals between its wildcards: `a*b` is `['a', 'b']`. A single part has no wildcard. */
export type Pattern = readonly string[];

/** A comparison. Ranges include both ends. */
export type Comparison<Value> =
  | { readonly operator: '>' | '>=' | '<' | '<='; readonly value: Value }
  | { readonly operator: '..'; readonly from: Value; readonly to: Value };

/** A step of a JSON path: a key or array position, or any of them. */
export type JsonStep = { readonly key: string } | 'any';

/** A block of addresses. `bytes` has 4 numbers for IPv4 and 16 for IPv6, with zeros after the first `prefix` bits. */
export interface IpNetwork {
  readonly bytes: readonly number[];
  readonly prefix: number;
}

/** Milliseconds of each unit of a time ago. */
export const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
export type TimeUnit = keyof typeof UNIT_MS;

/** Milliseconds since 1970 (UTC), or a time before the moment of matching. */
export type Moment = { readonly at: number } | { readonly ago: number; readonly unit: TimeUnit };

export const REQUEST_STATES = ['saved', 'unsaved', 'delivered', 'failed', 'pending'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** One condition. In `query` and `header`, a `value` of `null` matches any value. */
export type Term =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'method'; readonly methods: readonly string[] }
  | { readonly kind: 'path'; readonly pattern: Pattern }
  | { readonly kind: 'query'; readonly name: string; readonly value: string | null }
  | { readonly kind: 'header'; readonly name: string; readonly value: string | null }
  | { readonly kind: 'body'; readonly text: string }
  | {
      readonly kind: 'json';
      readonly path: readonly JsonStep[];
      /** Numbers keep their source text, so that no digit is lost. */
      readonly value: { readonly operator: 'is'; readonly pattern: Pattern } | Comparison<string>;
    }
  | { readonly kind: 'source'; readonly patterns: readonly Pattern[] }
  | { readonly kind: 'event'; readonly patterns: readonly Pattern[] }
  | { readonly kind: 'ip'; readonly network: IpNetwork }
  /** Sizes are in bytes. */
  | { readonly kind: 'size'; readonly value: { readonly operator: '='; readonly value: number } | Comparison<number> }
  | { readonly kind: 'after' | 'before'; readonly moment: Moment }
  | { readonly kind: 'is'; readonly state: RequestState }
  /** Three digits, or a class such as `4xx`. */
  | { readonly kind: 'status'; readonly statuses: readonly string[] };

/** Yields every term of a query from left to right. */
export function* termsOf(query: Query): Generator<Term> {
  if (query.kind === 'and' || query.kind === 'or') for (const part of query.parts) yield* termsOf(part);
  else if (query.kind === 'not') yield* termsOf(query.part);
  else yield query;
}

const BODY_TERMS: ReadonlySet<string> = new Set<Term['kind']>(['text', 'body', 'json']);

/** True if a term needs the whole body. Labels and event types need only its beginning. */
export function needsBody(query: Query): boolean {
  return [...termsOf(query)].some(({ kind }) => BODY_TERMS.has(kind));
}
