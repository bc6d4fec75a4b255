import { printIpNetwork } from './ip-network.ts';
import { parseQuery } from './parse-query.ts';
import type { Comparison, JsonStep, Moment, Pattern, Query, Term } from './query.ts';

/** Formats a query as text that `parseQuery` parses back. */
export function printQuery(query: Query): string {
  if (query.kind === 'and') return query.parts.map((part) => grouped(part, part.kind === 'or')).join(' ');
  if (query.kind === 'or') return query.parts.map((part) => grouped(part, part.kind === 'or')).join(' OR ');
  if (query.kind !== 'not') return printTerm(query);
  const { part } = query;
  // Two dashes would be parsed as text.
  if (part.kind === 'text' && part.text.startsWith('-')) return `-${quote(part.text)}`;
  return `-${grouped(part, part.kind === 'and' || part.kind === 'or' || part.kind === 'not')}`;
}

function grouped(query: Query, isGroup: boolean): string {
  return isGroup ? `(${printQuery(query)})` : printQuery(query);
}

function printTerm(term: Term): string {
  switch (term.kind) {
    case 'text':
      return isPlainWord(term.text) ? term.text : quote(term.text);
    case 'method':
      return `method:${term.methods.map(word).join(',')}`;
    case 'source':
    case 'event':
      return `${term.kind}:${term.patterns.map(printPattern).join(',')}`;
    case 'path':
      return `path:${printPattern(term.pattern)}`;
    case 'query':
    case 'header':
      return `${term.kind}.${printName(term.name)}:${term.value === null ? '*' : word(term.value)}`;
    case 'body':
      return `body:${word(term.text)}`;
    case 'json':
      return `json${term.path.map(printStep).join('')}:${printJsonValue(term.value)}`;
    case 'ip':
      return `ip:${printIpNetwork(term.network)}`;
    case 'size':
      return `size:${term.value.operator === '=' ? printSize(term.value.value) : printComparison(term.value, printSize)}`;
    case 'after':
    case 'before':
      return `${term.kind}:${printMoment(term.moment)}`;
    case 'is':
      return `is:${term.state}`;
    case 'status':
      return `status:${term.statuses.join(',')}`;
  }
}

/** True for a text that needs no quotes. */
function isPlainWord(text: string): boolean {
  const read = parseQuery(text);
  return read.ok && read.query.kind === 'text' && read.query.text === text;
}

/** Escapes a backslash only if it would be parsed as an escape. */
function quote(text: string): string {
  return `"${text.replace(/"|\\(?=["\\]|$)/g, String.raw`\$&`)}"`;
}

/** A value without a wildcard. */
function word(text: string): string {
  return /[\s"(),*<>]|\.\./.test(text) ? quote(text) : text;
}

function printPattern(pattern: Pattern): string {
  const [only = ''] = pattern;
  return pattern.length === 1 ? word(only) : pattern.join('*');
}

function printName(name: string): string {
  return /[\s:"()]/.test(name) ? quote(name) : name;
}

function printStep(step: JsonStep): string {
  if (step === 'any') return '.*';
  return `.${step.key === '' || step.key === '*' || /[\s.:"()]/.test(step.key) ? quote(step.key) : step.key}`;
}

function printJsonValue(value: Extract<Term, { kind: 'json' }>['value']): string {
  return value.operator === 'is' ? printPattern(value.pattern) : printComparison(value, String);
}

function printComparison<Value>(value: Comparison<Value>, print: (value: Value) => string): string {
  return value.operator === '..'
    ? `${print(value.from)}..${print(value.to)}`
    : `${value.operator}${print(value.value)}`;
}

function printSize(bytes: number): string {
  if (bytes > 0 && bytes % (1024 * 1024) === 0) return `${bytes / (1024 * 1024)}mb`;
  return bytes > 0 && bytes % 1024 === 0 ? `${bytes / 1024}kb` : String(bytes);
}

/** Removes trailing parts that are zero. */
function printMoment(moment: Moment): string {
  if ('ago' in moment) return `-${moment.ago}${moment.unit}`;
  return new Date(moment.at)
    .toISOString()
    .replace(/(?::00)?\.000Z$|Z$/, '')
    .replace(/T00:00$/, '');
}
