import { REQUEST_STATES, queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';

/** Values that occur in the requests that are searched. */
export type KnownValues = ReturnType<typeof knownValuesOf>;

/** A suggestion for the term at the caret. */
export interface Completion {
  /** Replaces what is typed. */
  readonly text: string;
  /** An example, or what the value means. */
  readonly hint: string;
}

/** Every field with an example of its value: docs/query-language.md, "Terms". */
export const QUERY_FIELDS: readonly Completion[] = [
  { text: 'method:', hint: 'POST or GET,POST' },
  { text: 'path:', hint: '/orders or /orders/*' },
  { text: 'body:', hint: 'text' },
  { text: 'json.', hint: 'json.data.amount:>1000' },
  { text: 'header.', hint: 'header.x-shop:acme' },
  { text: 'query.', hint: 'query.page:2' },
  { text: 'event:', hint: 'invoice.*' },
  { text: 'source:', hint: 'Stripe' },
  { text: 'is:', hint: 'saved or unsaved' },
  { text: 'after:', hint: '-15m or 2026-11-22' },
  { text: 'before:', hint: '-1d or 2026-11-22T10:00Z' },
  { text: 'size:', hint: '>10kb or 1kb..2kb' },
  { text: 'ip:', hint: '203.0.113.7 or 10.0.0.0/8' },
  { text: 'status:', hint: '500 or 5xx' },
];

const TIMES_AGO: readonly Completion[] = [
  { text: '-15m', hint: '15 minutes ago' },
  { text: '-1h', hint: '1 hour ago' },
  { text: '-1d', hint: '1 day ago' },
  { text: '-1w', hint: '1 week ago' },
];

const MAX_CHOICES = 8;

/** Plain text from this length on also finds known values. */
const MIN_VALUE_LENGTH = 2;

/** Suggests fields and known values for the term at the caret, with the range of the text that a choice replaces. */
export function completionsAt(text: string, caret: number, known: KnownValues) {
  const { start, end } = termAt(text, caret);
  const typed = text.slice(start, caret);
  const named = /^(header|query)\.([^:"]*)$/.exec(typed);
  if (named !== null) {
    const [, field = '', name = ''] = named;
    const names = field === 'header' ? known.headers : known.parameters;
    const offered = names.map((one) => ({ text: `${quoted(one, NAME_NEEDS_QUOTES)}:`, hint: '' }));
    return { from: start + field.length + 1, to: end, choices: fitting(offered, name) };
  }
  const valued = /^([a-z]+(?:\.[^:]+)?):(.*)$/s.exec(typed);
  if (valued === null) return { from: start, to: end, choices: termsFor(typed, known) };
  const [, field = '', given = ''] = valued;
  const isList = LISTS.has(field);
  const comma = isList ? given.lastIndexOf(',') + 1 : 0;
  const from = start + field.length + 1 + comma;
  return { from, to: end, choices: fitting(valuesOf(field, known), given.slice(comma).replace(/^"/, '')) };
}

/** Puts a choice into the text. A complete value is followed by a space, so that the next term can be typed. */
export function complete(text: string, { from, to }: ReturnType<typeof completionsAt>, choice: Completion) {
  const isOpen = /[:.]$/.test(choice.text);
  const rest = text.slice(to);
  const inserted = isOpen || /^[\s)]/.test(rest) ? choice.text : `${choice.text} `;
  return { text: text.slice(0, from) + inserted + rest, caret: from + inserted.length };
}

/** The term around the caret, without its `-` and parentheses. */
function termAt(text: string, caret: number) {
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < caret; at++) {
    const character = text[at] ?? '';
    if (isQuoted) {
      if (character === '\\') at++;
      else if (character === '"') isQuoted = false;
    } else if (/\s/.test(character)) {
      start = at + 1;
    } else if (character === '"') {
      isQuoted = at === start || /[:,.]/.test(text[at - 1] ?? '');
    } else if (at === start && /[(-]/.test(character)) {
      start = at + 1;
    }
  }
  const rest = text.slice(caret);
  const length = isQuoted ? (/^(?:\\.|[^"\\])*"?/s.exec(rest)?.[0].length ?? 0) : rest.search(/[\s)]|$/);
  return { start, end: caret + length };
}

const LISTS: ReadonlySet<string> = new Set(['method', 'source', 'event', 'status']);

function valuesOf(field: string, known: KnownValues): readonly Completion[] {
  if (field.startsWith('header.') || field.startsWith('query.')) return [{ text: '*', hint: 'any value' }];
  switch (field) {
    case 'method':
      return known.methods.map(value);
    case 'source':
      return known.sources.map(value);
    case 'event':
      return known.events.map(value);
    case 'is':
      return REQUEST_STATES.map(value);
    case 'after':
    case 'before':
      return TIMES_AGO;
    case 'size':
      return ['>10kb', '>1mb', '<1kb'].map(value);
    case 'status':
      return ['2xx', '4xx', '5xx'].map(value);
    default:
      return [];
  }
}

function value(text: string): Completion {
  return { text: /^[<>]/.test(text) ? text : quoted(text, VALUE_NEEDS_QUOTES), hint: '' };
}

const NAME_NEEDS_QUOTES = /[\s:"()]/;
const VALUE_NEEDS_QUOTES = /[\s"(),*<>]/;

function quoted(text: string, needsQuotes: RegExp): string {
  return needsQuotes.test(text) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : text;
}

/** Fields by their beginning, then known values that the text may mean. */
function termsFor(typed: string, known: KnownValues): readonly Completion[] {
  const fields = QUERY_FIELDS.filter(({ text }) => text.startsWith(typed.toLowerCase()));
  if (typed.length < MIN_VALUE_LENGTH) return typed === '' ? fields : fields.slice(0, MAX_CHOICES);
  const values = (['method', 'source', 'event'] as const).flatMap((field) =>
    containing(valuesOf(field, known), typed).map(({ text }) => ({ text: `${field}:${text}`, hint: '' })),
  );
  return [...fields, ...values].slice(0, MAX_CHOICES);
}

/** The choices for a value that is not complete. */
function fitting(choices: readonly Completion[], typed: string): readonly Completion[] {
  return containing(choices, typed).filter(({ text }) => text.toLowerCase() !== typed.toLowerCase());
}

/** The choices that contain a text, those that begin with it first. */
function containing(choices: readonly Completion[], typed: string): readonly Completion[] {
  const matchAt = ({ text }: Completion): number => text.toLowerCase().replace(/^"/, '').indexOf(typed.toLowerCase());
  const found = choices.filter((choice) => matchAt(choice) >= 0);
  return found.toSorted((a, b) => Math.min(matchAt(a), 1) - Math.min(matchAt(b), 1)).slice(0, MAX_CHOICES);
}

/** Number of requests whose values are suggested. */
const MAX_READ_ROWS = 200;

const COMMON_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Without regard to case, unlike the default order. */
const alphabetical = new Intl.Collator('en').compare;

/** The values that occur in the newest of these requests. Headers are in lower case. */
export function knownValuesOf(rows: readonly CapturedRequest[]) {
  const read = rows.slice(0, MAX_READ_ROWS);
  const distinct = (values: Iterable<string>): string[] => [...new Set(values)].toSorted(alphabetical);
  return {
    methods: distinct([...COMMON_METHODS, ...read.map(({ method }) => method)]),
    sources: distinct(read.map(({ source }) => source)),
    events: distinct(read.flatMap(({ eventType }) => eventType ?? [])),
    headers: distinct(read.flatMap(({ rawHeaders }) => rawHeaders.map(([name]) => name.toLowerCase()))),
    parameters: distinct(read.flatMap((row) => queryPairs(row).map(([name]) => name))),
  };
}
