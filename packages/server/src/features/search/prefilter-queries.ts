import { foldCase, timeOf } from '@creel/contract';
import type { Pattern, Query, Term } from '@creel/contract';
import { METHODS } from 'node:http';

/** Lowercase bytes, matched without ASCII case. */
type Bytes = Buffer;

/**
 * A condition that every matching row meets, and perhaps other rows. SQL uses it to narrow the search; the matcher
 * decides. Ranges are inclusive.
 */
export type Prefilter =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Prefilter[] }
  | { readonly kind: 'method'; readonly methods: readonly string[]; readonly isWanted: boolean }
  | { readonly kind: 'saved'; readonly isWanted: boolean }
  | { readonly kind: 'received' | 'size'; readonly from: number; readonly to: number; readonly isWanted: boolean }
  /** Requests with a row in this table of deliveries. */
  | { readonly kind: 'delivery'; readonly table: 'deliveries' | 'latest_deliveries' }
  /** In the body, or all items of one list in the head. */
  | { readonly kind: 'text'; readonly body: Bytes; readonly head: readonly (readonly Bytes[])[] }
  | { readonly kind: 'head'; readonly anyOf: readonly (readonly Bytes[])[] }
  | { readonly kind: 'body'; readonly text: Bytes }
  /** In the body, case-sensitive. */
  | { readonly kind: 'body-bytes'; readonly bytes: Buffer };

/** A body with a content coding can't be searched in its stored form. */
const CODED: readonly Bytes[] = [Buffer.from('content-encoding')];
const IS_CODED: Prefilter = { kind: 'head', anyOf: [CODED] };
/** All methods that a capture can have, in lowercase. Other texts never reach SQL: PostgreSQL has no NUL in a text. */
const STORED_METHODS = METHODS.map(foldCase);
const MIN = Number.MIN_SAFE_INTEGER;
const MAX = Number.MAX_SAFE_INTEGER;

/** The prefilter of a query; `undefined` when it excludes no row. `now` is in milliseconds since 1970. */
export function prefilterOf(query: Query, now: number): Prefilter | undefined {
  return prefilter(query, now, true);
}

function prefilter(query: Query, now: number, isWanted: boolean): Prefilter | undefined {
  if (query.kind === 'not') return prefilter(query.part, now, !isWanted);
  if (query.kind !== 'and' && query.kind !== 'or')
    return isWanted ? prefilterOfTerm(query, now) : exactPrefilter(query, now, false);
  const parts = query.parts.map((part) => prefilter(part, now, isWanted));
  // De Morgan: a negated "and" is an "or" of negated parts, and the reverse.
  return (query.kind === 'and') === isWanted ? allOf(parts) : anyOf(parts);
}

/** Maximum number of byte searches per row. Beyond it, reading and matching the row is cheaper. */
const MAX_LOOKS = 8;

/** Omits parts that cost too much: fewer conditions pass more rows, which is safe. */
function allOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const kept: Prefilter[] = [];
  for (const part of parts) if (part !== undefined && looksOf([...kept, part]) <= MAX_LOOKS) kept.push(part);
  return kept.length === 0 ? undefined : { kind: 'and', parts: kept };
}

function anyOf(parts: readonly (Prefilter | undefined)[]): Prefilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length || looksOf(known) > MAX_LOOKS ? undefined : { kind: 'or', parts: known };
}

function looksOf(prefilters: readonly Prefilter[]): number {
  return prefilters.reduce((sum, part) => {
    if (part.kind === 'and' || part.kind === 'or') return sum + looksOf(part.parts);
    return (
      sum + (part.kind === 'text' || part.kind === 'head' || part.kind === 'body' || part.kind === 'body-bytes' ? 1 : 0)
    );
  }, 0);
}

/** Terms that SQL decides exactly, so that their negation is a prefilter too. */
function exactPrefilter(term: Term, now: number, isWanted: boolean): Prefilter | undefined {
  switch (term.kind) {
    case 'method': {
      const named = new Set(term.methods.map(foldCase));
      return { kind: 'method', methods: STORED_METHODS.filter((method) => named.has(method)), isWanted };
    }
    case 'is':
      if (term.state === 'saved') return { kind: 'saved', isWanted };
      return term.state === 'unsaved' ? { kind: 'saved', isWanted: !isWanted } : undefined;
    case 'after':
      return { kind: 'received', from: Math.ceil(timeOf(term.moment, now)), to: MAX, isWanted };
    case 'before':
      return { kind: 'received', from: MIN, to: Math.ceil(timeOf(term.moment, now)) - 1, isWanted };
    case 'size':
      return { kind: 'size', ...sizeRange(term.value), isWanted };
    default:
      return undefined;
  }
}

/** A range of whole bytes. */
function sizeRange(value: Extract<Term, { kind: 'size' }>['value']): { from: number; to: number } {
  switch (value.operator) {
    case '>':
      return { from: Math.floor(value.value) + 1, to: MAX };
    case '>=':
      return { from: Math.ceil(value.value), to: MAX };
    case '<':
      return { from: MIN, to: Math.ceil(value.value) - 1 };
    case '<=':
      return { from: MIN, to: Math.floor(value.value) };
    case '=':
      return { from: Math.ceil(value.value), to: Math.floor(value.value) };
    case '..':
      return { from: Math.ceil(value.from), to: Math.floor(value.to) };
  }
}

function prefilterOfTerm(term: Term, now: number): Prefilter | undefined {
  switch (term.kind) {
    case 'text':
      return textPrefilter(term.text);
    case 'path': {
      const part = longest(term.pattern);
      // The head does not contain the slash of an empty path.
      return part.length < 2 ? undefined : { kind: 'head', anyOf: decodedForms(part) };
    }
    case 'query':
      return allOf(
        [term.name, term.value ?? ''].map((text) =>
          text === '' ? undefined : { kind: 'head', anyOf: decodedForms(text) },
        ),
      );
    case 'header':
      return allOf([
        { kind: 'head', anyOf: [[lower(term.name)]] },
        term.value === null ? undefined : { kind: 'head', anyOf: sentForms(term.value) },
      ]);
    case 'body':
      return anyOf([{ kind: 'body', text: lower(term.text) }, IS_CODED]);
    case 'json':
      return jsonPrefilter(term);
    case 'status':
      return { kind: 'delivery', table: 'latest_deliveries' };
    case 'is':
      if (term.state === 'pending') return { kind: 'delivery', table: 'deliveries' };
      return term.state === 'saved' || term.state === 'unsaved'
        ? exactPrefilter(term, now, true)
        : { kind: 'delivery', table: 'latest_deliveries' };
    default:
      return exactPrefilter(term, now, true);
  }
}

function textPrefilter(text: string): Prefilter | undefined {
  // An empty path is searched as a slash, which the head does not contain.
  const inHead = /^\/(?:\?|$)/.test(text) ? text.slice(1) : text;
  if (inHead === '') return undefined;
  const folded = foldCase(text);
  return anyOf([
    { kind: 'text', body: lower(text), head: [...decodedForms(inHead), CODED] },
    { kind: 'method', methods: STORED_METHODS.filter((method) => method.includes(folded)), isWanted: true },
  ]);
}

/** Keys, and the longest part of a text, appear unchanged in the body unless it contains escapes. */
function jsonPrefilter({ path, value }: Extract<Term, { kind: 'json' }>): Prefilter | undefined {
  const keys = path.flatMap((step) => (step === 'any' || /^\d*$/.test(step.key) ? [] : [step.key]));
  const text = value.operator === 'is' ? longest(value.pattern) : '';
  // A number can be written in many ways.
  const isText = text !== '' && !(value.operator === 'is' && value.pattern.length === 1 && /^-?\d/.test(text));
  const plain = allOf([
    ...keys.map((key): Prefilter => ({ kind: 'body-bytes', bytes: needle(key) })),
    isText ? { kind: 'body', text: lower(text) } : undefined,
  ]);
  return anyOf([plain, { kind: 'body-bytes', bytes: Buffer.from('\\') }, IS_CODED]);
}

function longest(pattern: Pattern): string {
  return pattern.reduce((best, part) => (part.length > best.length ? part : best), '');
}

/** Maximum bytes to find in a row. With more, SQL takes quadratic time, and passes hardly fewer rows. */
const MAX_NEEDLE_BYTES = 64;

function needle(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): Buffer {
  return Buffer.from(text, encoding).subarray(0, MAX_NEEDLE_BYTES);
}

function lower(text: string): Bytes {
  return needle(foldCase(text));
}

/** The encodings of a text in headers: UTF-8, and Latin-1 if possible. */
function sentForms(text: string): (readonly Bytes[])[] {
  const folded = foldCase(text);
  const utf8 = needle(folded);
  const isLatin1 = /[\x80-\xff]/.test(folded) && !/[^\0-\xff]/.test(folded);
  return isLatin1 ? [[utf8], [needle(folded, 'latin1')]] : [[utf8]];
}

/** The same for URL-encoded text: spaces as `+`, or anything after a `%`. */
function decodedForms(text: string): (readonly Bytes[])[] {
  const plus = text.includes(' ') ? sentForms(text.replaceAll(' ', '+')) : [];
  return [...sentForms(text), ...plus, [Buffer.from('%')]];
}
