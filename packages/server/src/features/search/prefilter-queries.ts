import { foldCase, timeOf } from '@creel/contract';
import type { Pattern, Query, Term } from '@creel/contract';
import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import { METHODS } from 'node:http';
import type { Engine } from '../../database/engine.ts';
import { SIZE } from '../requests/queries.ts';
import { LARGE_BODY_BYTES } from '../../workers/sliced-work.ts';

type Condition = RawBuilder<SqlBool>;

/** A condition that every matching row meets, and perhaps other rows. */
interface Prefilter {
  readonly condition: Condition;
  /** How many it has per row. */
  readonly byteSearches: number;
}

interface Context {
  readonly engine: Engine;
  /** Relative times of the query count from here, in milliseconds since 1970. */
  readonly now: number;
}

const HEAD = sql.ref<Uint8Array>('head');
const BODY = sql.ref<Uint8Array | null>('body');
/** A body with this header can't be searched in its stored form. */
const CODING_HEADER = Buffer.from('content-encoding');
/** All methods that a capture can have, in lowercase. Other texts never reach SQL: PostgreSQL has no NUL in a text. */
const STORED_METHODS = METHODS.map(foldCase);

/**
 * A condition that narrows a search; the matcher decides. `undefined` when the query excludes no row. Byte
 * searches ignore ASCII case, for lowercase needles.
 */
export function prefilterOf(query: Query, context: Context): Condition | undefined {
  return prefilter(query, context, true)?.condition;
}

function prefilter(query: Query, context: Context, isWanted: boolean): Prefilter | undefined {
  if (query.kind === 'not') return prefilter(query.part, context, !isWanted);
  if (query.kind !== 'and' && query.kind !== 'or')
    return isWanted ? prefilterOfTerm(query, context) : exactPrefilter(query, context, false);
  const parts = query.parts.map((part) => prefilter(part, context, isWanted));
  // De Morgan: a negated "and" is an "or" of negated parts, and the reverse.
  return (query.kind === 'and') === isWanted ? allOf(parts) : anyOf(parts);
}

/** Maximum number of byte searches per row. Beyond it, reading and matching the row is cheaper. */
const MAX_BYTE_SEARCHES = 8;

/** Omits parts that cost too much: fewer conditions pass more rows, which is safe. */
function allOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const kept: Condition[] = [];
  let byteSearches = 0;
  for (const part of parts) {
    if (part === undefined || byteSearches + part.byteSearches > MAX_BYTE_SEARCHES) continue;
    kept.push(part.condition);
    byteSearches += part.byteSearches;
  }
  return kept.length === 0 ? undefined : { condition: sql`(${sql.join(kept, sql` and `)})`, byteSearches };
}

function anyOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  const byteSearches = known.reduce((sum, part) => sum + part.byteSearches, 0);
  if (known.length < parts.length || byteSearches > MAX_BYTE_SEARCHES) return undefined;
  return { condition: either(known.map(({ condition }) => condition)), byteSearches };
}

function either(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join([...conditions], sql` or `)})`;
}

/** A condition without a byte search. */
function cheap(condition: Condition, isWanted = true): Prefilter {
  return { condition: isWanted ? condition : sql`not (${condition})`, byteSearches: 0 };
}

function headPrefilter({ engine }: Context, needles: readonly Buffer[]): Prefilter {
  return { condition: either(needles.map((bytes) => engine.bytesMayContain(HEAD, bytes))), byteSearches: 1 };
}

/** A byte search in bodies. SQL can't be interrupted, so large bodies are matched in slices only. */
function bodyPrefilter(isContained: Condition): Prefilter {
  const condition = sql<SqlBool>`(${SIZE} > ${sql.lit(LARGE_BODY_BYTES)} or ${isContained})`;
  return { condition, byteSearches: 1 };
}

function methodPrefilter(methods: readonly string[], isWanted = true): Prefilter {
  return cheap(methods.length === 0 ? sql`1 = 0` : sql`lower(method) in (${sql.join(methods)})`, isWanted);
}

function deliveryPrefilter(table: 'deliveries' | 'latest_deliveries'): Prefilter {
  return cheap(sql`exists (select 1 from ${sql.table(table)} where request_key = key)`);
}

/** Terms that SQL decides exactly, so that their negation is a prefilter too. */
function exactPrefilter(term: Term, { now }: Context, isWanted: boolean): Prefilter | undefined {
  switch (term.kind) {
    case 'method': {
      const named = new Set(term.methods.map(foldCase));
      return methodPrefilter(
        STORED_METHODS.filter((method) => named.has(method)),
        isWanted,
      );
    }
    case 'is':
      if (term.state !== 'saved' && term.state !== 'unsaved') return undefined;
      return cheap((term.state === 'saved') === isWanted ? sql`saved_id is not null` : sql`saved_id is null`);
    case 'after':
      return cheap(sql`received_at >= ${Math.ceil(timeOf(term.moment, now))}`, isWanted);
    case 'before':
      return cheap(sql`received_at < ${Math.ceil(timeOf(term.moment, now))}`, isWanted);
    case 'size':
      return cheap(hasSize(term.value), isWanted);
    default:
      return undefined;
  }
}

function hasSize(value: Extract<Term, { kind: 'size' }>['value']): Condition {
  // A size in a query may have decimals.
  const bytes = (size: number) => sql`cast(${size} as double precision)`;
  if (value.operator === '..') return sql`${SIZE} between ${bytes(value.from)} and ${bytes(value.to)}`;
  return sql`${SIZE} ${sql.raw(value.operator)} ${bytes(value.value)}`;
}

function prefilterOfTerm(term: Term, context: Context): Prefilter | undefined {
  switch (term.kind) {
    case 'text':
      return textPrefilter(term.text, context);
    case 'path': {
      const part = longest(term.pattern);
      // The head does not contain the slash of an empty path.
      return part.length < 2 ? undefined : headPrefilter(context, decodedForms(part));
    }
    case 'query':
      return allOf(
        [term.name, term.value ?? ''].map((text) =>
          text === '' ? undefined : headPrefilter(context, decodedForms(text)),
        ),
      );
    case 'header':
      return allOf([
        headPrefilter(context, [lower(term.name)]),
        term.value === null ? undefined : headPrefilter(context, sentForms(term.value)),
      ]);
    case 'body':
      return anyOf([containsText(term.text, context), isCoded(context)]);
    case 'json':
      return jsonPrefilter(term, context);
    case 'status':
      return deliveryPrefilter('latest_deliveries');
    case 'is':
      if (term.state === 'pending') return deliveryPrefilter('deliveries');
      return exactPrefilter(term, context, true) ?? deliveryPrefilter('latest_deliveries');
    default:
      return exactPrefilter(term, context, true);
  }
}

function textPrefilter(text: string, { engine }: Context): Prefilter | undefined {
  // An empty path is searched as a slash, which the head does not contain.
  const inHead = /^\/(?:\?|$)/.test(text) ? text.slice(1) : text;
  if (inHead === '') return undefined;
  const folded = foldCase(text);
  return anyOf([
    bodyPrefilter(engine.mayContain(BODY, lower(text), HEAD, [...decodedForms(inHead), CODING_HEADER])),
    methodPrefilter(STORED_METHODS.filter((method) => method.includes(folded))),
  ]);
}

/** Keys, and the longest part of a text, appear unchanged in the body unless it contains escapes. */
function jsonPrefilter({ path, value }: Extract<Term, { kind: 'json' }>, context: Context): Prefilter | undefined {
  const keys = path.flatMap((step) => (step === 'any' || /^\d*$/.test(step.key) ? [] : [step.key]));
  const text = value.operator === 'is' ? longest(value.pattern) : '';
  // A number can be written in many ways.
  const isText = text !== '' && !(value.operator === 'is' && value.pattern.length === 1 && /^-?\d/.test(text));
  const containsExactly = (bytes: Buffer): Prefilter => bodyPrefilter(context.engine.contains(BODY, bytes));
  const plain = allOf([
    ...keys.map((key) => containsExactly(needle(key))),
    isText ? containsText(text, context) : undefined,
  ]);
  return anyOf([plain, containsExactly(Buffer.from('\\')), isCoded(context)]);
}

function containsText(text: string, { engine }: Context): Prefilter {
  return bodyPrefilter(engine.bytesMayContain(BODY, lower(text)));
}

function isCoded(context: Context): Prefilter {
  return headPrefilter(context, [CODING_HEADER]);
}

function longest(pattern: Pattern): string {
  return pattern.reduce((best, part) => (part.length > best.length ? part : best), '');
}

/** Maximum bytes to find in a row. With more, SQL takes quadratic time, and excludes hardly more rows. */
const MAX_NEEDLE_BYTES = 64;

function needle(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): Buffer {
  return Buffer.from(text, encoding).subarray(0, MAX_NEEDLE_BYTES);
}

function lower(text: string): Buffer {
  return needle(foldCase(text));
}

/** The encodings of a text in headers: UTF-8, and Latin-1 if possible. */
function sentForms(text: string): Buffer[] {
  const folded = foldCase(text);
  const utf8 = needle(folded);
  const isLatin1 = /[\x80-\xff]/.test(folded) && !/[^\0-\xff]/.test(folded);
  return isLatin1 ? [utf8, needle(folded, 'latin1')] : [utf8];
}

/** The same for URL-encoded text: spaces as `+`, or anything after a `%`. */
function decodedForms(text: string): Buffer[] {
  const plus = text.includes(' ') ? sentForms(text.replaceAll(' ', '+')) : [];
  return [...sentForms(text), ...plus, Buffer.from('%')];
}
