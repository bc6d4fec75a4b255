import { EXPECTED, LIST_FIELDS, PLAIN_FIELD_NAMES, termOf } from './parse-value.ts';
import type { Field, WrittenValue } from './parse-value.ts';
import { MAX_QUERY_DEPTH, MAX_QUERY_LENGTH, MAX_QUERY_TERMS } from './query.ts';
import type { JsonStep, Query, Term } from './query.ts';
import { suggestField } from './unknown-field.ts';
import type { UnknownField } from './unknown-field.ts';

/** A term and its start in the text, in UTF-16 units from 0. A `-` is not part of its term. */
interface PlacedTerm {
  readonly term: Term;
  readonly position: number;
}

/** `position` is the start of the invalid term, in UTF-16 units from 0. `sentence` says what was expected. */
export interface QueryMistake {
  readonly ok: false;
  readonly position: number;
  readonly sentence: string;
}

export type QueryParseResult =
  | {
      readonly ok: true;
      readonly query: Query;
      /** From left to right. */
      readonly terms: readonly PlacedTerm[];
      readonly unknownFields: readonly UnknownField[];
    }
  | QueryMistake;

/** Parses a query (grammar: docs/query-language.md). Text without a term matches every request. */
export function parseQuery(text: string): QueryParseResult {
  try {
    const parser = new QueryParser(text.toWellFormed());
    return { ok: true, query: parser.parse(), terms: parser.terms, unknownFields: parser.unknownFields };
  } catch (error) {
    if (!(error instanceof QuerySyntaxError)) throw error;
    return { ok: false, position: error.position, sentence: error.message };
  }
}

class QuerySyntaxError extends Error {
  readonly position: number;

  constructor(position: number, expected: string) {
    super(`Expected ${expected}.`);
    this.position = position;
  }
}

const SPACE = /\s+/y;
// These patterns are unambiguous at every character, so they take linear time.
const QUOTED = /"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"/y;
const NAMED_FIELD = /(query|header)\.("(?:\\["\\]|\\(?!["\\])|[^"\\])*"|[^\s:"()]+):/y;
const JSON_FIELD = /json((?:\.(?:"(?:\\["\\]|\\(?!["\\])|[^"\\])*"|[^\s.:"()]+))+):/y;
const JSON_STEP = /\.(?:"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"|([^\s.:"()]+))/g;
const PLAIN_FIELD = new RegExp(`(${PLAIN_FIELD_NAMES.join('|')}):`, 'y');
const UNKNOWN_FIELD = /^([a-z_][\w.-]*):/i;
/** Not a path into JSON, whose names rarely end like a host's. */
const HOST_AND_PORT = /^[\w.-]+\.(?:com|net|org|io|dev|app|co|ai|cloud|local|internal|test|example):\d{1,5}(?:\/|$)/i;

class QueryParser {
  readonly terms: PlacedTerm[] = [];
  readonly unknownFields: UnknownField[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Query {
    const text = this.#text;
    if (text.length > MAX_QUERY_LENGTH) {
      const before = text.slice(0, MAX_QUERY_LENGTH + 1);
      throw new QuerySyntaxError(before.search(/\S*$/), `at most ${MAX_QUERY_LENGTH} characters`);
    }
    const query = this.#alternatives(0);
    if (this.#at < text.length) throw new QuerySyntaxError(this.#at, 'an opening parenthesis before this closing one');
    return query;
  }

  /** Parses terms and groups up to the end or a closing parenthesis. */
  #alternatives(depth: number): Query {
    const alternatives: Query[] = [];
    let parts: Query[] = [];
    let operatorAt: number | undefined;
    for (;;) {
      this.#take(SPACE);
      if (this.#isEnd() || this.#next() === ')') break;
      if (this.#isOr()) {
        if (parts.length === 0) throw new QuerySyntaxError(this.#at, 'a term before OR');
        operatorAt = this.#at;
        alternatives.push(joined('and', parts));
        parts = [];
        this.#at += 'OR'.length;
      } else {
        parts.push(this.#part(depth));
      }
    }
    if (operatorAt === undefined) return joined('and', parts);
    if (parts.length === 0) throw new QuerySyntaxError(operatorAt, 'a term after OR');
    return joined('or', [...alternatives, joined('and', parts)]);
  }

  #isOr(): boolean {
    return this.#text.startsWith('OR', this.#at) && /^(?:[\s)]|$)/.test(this.#text.slice(this.#at + 2, this.#at + 3));
  }

  /** Parses a term or group with an optional `-`. A lone `-` and anything that starts with `--` is text. */
  #part(depth: number): Query {
    if (this.#next() === '-' && /[^\s)-]/.test(this.#text[this.#at + 1] ?? '')) {
      this.#at += 1;
      return { kind: 'not', part: this.#positive(depth) };
    }
    return this.#positive(depth);
  }

  #positive(depth: number): Query {
    return this.#next() === '(' ? this.#group(depth + 1) : this.#term();
  }

  #group(depth: number): Query {
    const start = this.#at;
    if (depth > MAX_QUERY_DEPTH) throw new QuerySyntaxError(start, `at most ${MAX_QUERY_DEPTH} nested parentheses`);
    this.#at += 1;
    const query = this.#alternatives(depth);
    if (this.#isEnd()) throw new QuerySyntaxError(start, 'a closing parenthesis for this opening one');
    this.#at += 1;
    if (query.kind === 'and' && query.parts.length === 0)
      throw new QuerySyntaxError(start, 'a term in the parentheses');
    return query;
  }

  #term(): Term {
    const position = this.#at;
    if (this.terms.length >= MAX_QUERY_TERMS) throw new QuerySyntaxError(position, `at most ${MAX_QUERY_TERMS} terms`);
    const term = this.#readTerm(position);
    this.terms.push({ term, position });
    return term;
  }

  #readTerm(start: number): Term {
    if (this.#next() === '"') return { kind: 'text', text: this.#quoted(start) };
    const field = this.#field();
    if (field === undefined) return this.#word(start);
    const term = termOf(field, this.#values(start, field));
    if (term === undefined) throw new QuerySyntaxError(start, EXPECTED[field.kind]);
    return term;
  }

  #word(start: number): Term {
    const text = this.#bare(start, false);
    const name = UNKNOWN_FIELD.exec(text)?.[1];
    const suggestion = name === undefined || HOST_AND_PORT.test(text) ? undefined : suggestField(name);
    if (name !== undefined) this.unknownFields.push({ name, position: start, suggestion });
    return { kind: 'text', text };
  }

  #field(): Field | undefined {
    const written = this.#peek(PLAIN_FIELD)?.[1];
    const kind = PLAIN_FIELD_NAMES.find((plain) => plain === written);
    if (kind !== undefined) {
      this.#at += kind.length + 1;
      return { kind };
    }
    const path = this.#take(JSON_FIELD)?.[1];
    if (path !== undefined) return { kind: 'json', path: [...path.matchAll(JSON_STEP)].map(stepOf) };
    const named = this.#peek(NAMED_FIELD);
    const name = named?.[2] ?? '';
    if (named === null || name === '""') return undefined;
    this.#at += named[0].length;
    const plainName = name.startsWith('"') ? unescaped(name.slice(1, -1)) : name;
    return { kind: named[1] === 'query' ? 'query' : 'header', name: plainName };
  }

  #values(start: number, field: Field): WrittenValue[] {
    const isList = LIST_FIELDS.has(field.kind);
    const values = [this.#value(start, field, isList)];
    while (isList && this.#next() === ',') {
      this.#at += 1;
      values.push(this.#value(start, field, isList));
    }
    return values;
  }

  #value(start: number, field: Field, isList: boolean): WrittenValue {
    if (this.#next() === '"') return { text: this.#quoted(start), isQuoted: true };
    const text = this.#bare(start, isList);
    if (text === '') throw new QuerySyntaxError(start, EXPECTED[field.kind]);
    return { text, isQuoted: false };
  }

  #quoted(start: number): string {
    const inner = this.#take(QUOTED)?.[1];
    if (inner === undefined) throw new QuerySyntaxError(start, 'a closing quote');
    if (inner === '') throw new QuerySyntaxError(start, 'a text between the quotes');
    return unescaped(inner);
  }

  /** Reads up to white space, an unmatched closing parenthesis, or a comma of a list. */
  #bare(start: number, isList: boolean): string {
    const from = this.#at;
    let open = 0;
    for (; !this.#isEnd(); this.#at += 1) {
      const character = this.#next();
      if (/\s/.test(character) || (isList && character === ',')) break;
      if (character === '(') open += 1;
      if (character === ')') open -= 1;
      if (open < 0) break;
    }
    if (open > 0) throw new QuerySyntaxError(start, 'a closing parenthesis in this word, or quotes around it');
    return this.#text.slice(from, this.#at);
  }

  #isEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  #next(): string {
    return this.#text[this.#at] ?? '';
  }

  #peek(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    return form.exec(this.#text);
  }

  #take(form: RegExp): RegExpExecArray | null {
    const found = this.#peek(form);
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** Joins parts and flattens: one part stays as it is, nested parts of the same kind are merged. */
function joined(kind: 'and' | 'or', parts: readonly Query[]): Query {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  const [only] = flat;
  return flat.length === 1 && only !== undefined ? only : { kind, parts: flat };
}

function stepOf([, quoted, bare]: RegExpExecArray): JsonStep {
  if (quoted !== undefined) return { key: unescaped(quoted) };
  return bare === undefined || bare === '*' ? 'any' : { key: bare };
}

function unescaped(inner: string): string {
  return inner.replace(/\\(["\\])/g, '$1');
}
