import { parseExactNumber } from './exact-number.ts';
import { parseIpNetwork } from './ip-network.ts';
import { REQUEST_STATES, UNIT_MS } from './query.ts';
import type { Comparison, JsonStep, Moment, Pattern, Term, TimeUnit } from './query.ts';

/** The source text of a value. Inside quotes, `*`, `,`, `<` and `>` are ordinary characters. */
export interface WrittenValue {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The source text of a field, before the colon. */
export type Field =
  | { readonly kind: PlainField }
  | { readonly kind: 'query' | 'header'; readonly name: string }
  | { readonly kind: 'json'; readonly path: readonly JsonStep[] };

/** The plain fields, with what each expects, for error messages. */
const PLAIN_FIELDS = {
  method: 'a method such as POST, or a list such as GET,POST',
  path: 'a path such as /orders or /orders/*',
  body: 'a text',
  source: 'a sender such as Stripe, or a list such as Stripe,GitHub',
  event: 'an event type such as invoice.paid or invoice.*',
  ip: 'an address such as 203.0.113.7 or a block such as 10.0.0.0/8',
  size: 'a size such as 500, 10kb or 2mb, with >, >=, < or <= before it, or a range such as 1kb..2kb',
  after: 'a date such as 2026-11-22, a time such as 2026-11-22T10:00Z, or a time ago such as -15m',
  before: 'a date such as 2026-11-22, a time such as 2026-11-22T10:00Z, or a time ago such as -15m',
  is: `one of ${REQUEST_STATES.join(', ')}`,
  status: 'a status such as 500 or 5xx, or is:delivered, is:failed or is:pending',
};
type PlainField = keyof typeof PLAIN_FIELDS;
export const PLAIN_FIELD_NAMES = Object.keys(PLAIN_FIELDS) as PlainField[];

/** What each field expects. */
export const EXPECTED: Readonly<Record<Field['kind'], string>> = {
  ...PLAIN_FIELDS,
  query: 'a text, or * for any value',
  header: 'a text, or * for any value',
  json: 'a number after >, >=, < or <=, a range such as 1..10, or a value',
};

/** Fields whose value may be a list with commas. */
export const LIST_FIELDS: ReadonlySet<string> = new Set<PlainField>(['method', 'source', 'event', 'status']);

/** Builds a term from a field and its values. Returns `undefined` for an invalid value. Only list fields have several values. */
export function termOf(field: Field, values: readonly WrittenValue[]): Term | undefined {
  const value = values[0] ?? { text: '', isQuoted: true };
  switch (field.kind) {
    case 'method':
      return { kind: 'method', methods: values.map(({ text }) => text) };
    case 'source':
    case 'event':
      return { kind: field.kind, patterns: values.map(patternOf) };
    case 'path':
      return { kind: 'path', pattern: patternOf(value) };
    case 'query':
    case 'header':
      return { kind: field.kind, name: field.name, value: isAny(value) ? null : value.text };
    case 'body':
      return { kind: 'body', text: value.text };
    case 'json':
      return jsonTerm(field.path, value);
    case 'status':
      return statusTerm(values.map(({ text }) => text.toLowerCase()));
    case 'ip':
      return ipTerm(value.text);
    case 'size':
      return sizeTerm(value);
    case 'is':
      return stateTerm(value.text.toLowerCase());
    case 'after':
    case 'before':
      return timeTerm(field.kind, value.text);
  }
}

function ipTerm(text: string): Term | undefined {
  const network = parseIpNetwork(text);
  return network && { kind: 'ip', network };
}

function stateTerm(text: string): Term | undefined {
  const state = REQUEST_STATES.find((known) => known === text);
  return state && { kind: 'is', state };
}

function timeTerm(kind: 'after' | 'before', text: string): Term | undefined {
  const moment = parseMoment(text);
  return moment && { kind, moment };
}

function isAny({ text, isQuoted }: WrittenValue): boolean {
  return !isQuoted && text === '*';
}

function patternOf({ text, isQuoted }: WrittenValue): Pattern {
  return isQuoted ? [text] : text.replace(/\*+/g, '*').split('*');
}

const OPERATOR = /^(>=|<=|>|<)(.*)$/s;
const RANGE = /^(.+?)\.\.(.+)$/s;

/** Parses `>1`, `>=1`, `<1`, `<=1` and `1..2`. Returns `undefined` for any other form, and `null` for an invalid value. */
function comparisonOf<Value>(
  text: string,
  read: (text: string) => Value | undefined,
): Comparison<Value> | null | undefined {
  const operator = OPERATOR.exec(text)?.[1];
  if (operator === '>' || operator === '>=' || operator === '<' || operator === '<=') {
    const value = read(text.slice(operator.length));
    return value === undefined ? null : { operator, value };
  }
  const range = RANGE.exec(text);
  if (range === null) return undefined;
  const [from, to] = [read(range[1] ?? ''), read(range[2] ?? '')];
  return from === undefined || to === undefined ? null : { operator: '..', from, to };
}

function jsonTerm(path: readonly JsonStep[], value: WrittenValue): Term | undefined {
  const comparison = value.isQuoted ? undefined : comparisonOf(value.text, readNumber);
  // Text can contain two dots. Only an operator requires a number.
  if (comparison === null && OPERATOR.test(value.text)) return undefined;
  return { kind: 'json', path, value: comparison ?? { operator: 'is', pattern: patternOf(value) } };
}

function readNumber(text: string): string | undefined {
  return parseExactNumber(text) === undefined ? undefined : text;
}

function statusTerm(statuses: readonly string[]): Term | undefined {
  return statuses.every((status) => /^[1-9](?:\d\d|xx)$/.test(status)) ? { kind: 'status', statuses } : undefined;
}

const BYTES: Readonly<Record<string, number>> = { '': 1, kb: 1024, mb: 1024 * 1024 };

/** At most three decimals, so that no size is printed with an exponent. */
function readSize(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d{1,3})?)(kb|mb)?$/i.exec(text);
  if (parts === null) return undefined;
  const bytes = Math.min(Number(parts[1]) * (BYTES[(parts[2] ?? '').toLowerCase()] ?? 1), Number.MAX_SAFE_INTEGER);
  return Number.isInteger(bytes) ? bytes : Math.round(bytes * 1000) / 1000;
}

function sizeTerm({ text, isQuoted }: WrittenValue): Term | undefined {
  const comparison = isQuoted ? undefined : comparisonOf(text, readSize);
  if (comparison === null) return undefined;
  if (comparison !== undefined) return { kind: 'size', value: comparison };
  const bytes = readSize(text);
  return bytes === undefined ? undefined : { kind: 'size', value: { operator: '=', value: bytes } };
}

const RELATIVE = /^-(\d{1,9})([smhdw])$/i;
const ABSOLUTE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

function isUnit(text: string): text is TimeUnit {
  return Object.hasOwn(UNIT_MS, text);
}

function parseMoment(text: string): Moment | undefined {
  const relative = RELATIVE.exec(text);
  const unit = relative?.[2]?.toLowerCase() ?? '';
  if (relative !== null && isUnit(unit)) return { ago: Number(relative[1]), unit };
  const at = parseTime(text);
  return at === undefined ? undefined : { at };
}

/** Parses RFC 3339 with everything after the date optional. UTC unless the text has an offset. */
function parseTime(text: string): number | undefined {
  const parts = ABSOLUTE.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day that the month does not have is in another month.
  if (date.getUTCMonth() !== month - 1) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  date.setUTCHours(hour, minute, second, Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const offset = offsetMinutes(parts[8] ?? 'Z');
  if (offset === undefined) return undefined;
  const at = date.getTime() - offset * 60_000;
  // An offset can lead to a year with more than four digits.
  return /^\d{4}-/.test(new Date(at).toISOString()) ? at : undefined;
}

function offsetMinutes(text: string): number | undefined {
  if (/^z$/i.test(text)) return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  const rest = text.length > 3 ? minutes : 0;
  if (hours > 23 || rest > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + rest);
}
