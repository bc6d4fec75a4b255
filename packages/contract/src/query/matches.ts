import { isDelivered } from '../delivery.ts';
import { compareExact, parseExactNumber } from './exact-number.ts';
import { isInNetwork } from './ip-network.ts';
import { someValueAt, unescapedString } from './json-path.ts';
import { UNIT_MS } from './query.ts';
import type { Comparison, Moment, Pattern, Query, Term } from './query.ts';
import { RequestView } from './request-view.ts';
import type { SearchableRequest } from './searchable-request.ts';
import { contains, foldCase, matchesPattern, needleOf, utf8Text, wireContains } from './text-match.ts';
import { resultOf } from './json-text.ts';
import type { WorkSteps } from './json-text.ts';

type Test = (view: RequestView) => boolean | WorkSteps;
type Matcher = (view: RequestView) => WorkSteps;

/** Prepares a query for many requests. Relative times count from `now`, in milliseconds since 1970. */
export function matcherOf(query: Query, now: number): (request: SearchableRequest) => boolean {
  const matcher = steppedMatcherOf(query, now);
  return (request) => resultOf(matcher(new RequestView(request)));
}

/** The same, in steps. Many terms can take seconds for a large body, so a thread that serves others needs this. */
export function steppedMatcherOf(query: Query, now: number): Matcher {
  if (query.kind === 'and' || query.kind === 'or') {
    const matchers = query.parts.map((part) => steppedMatcherOf(part, now));
    const isAnd = query.kind === 'and';
    return function* matchParts(view) {
      for (const matcher of matchers) if ((yield* matcher(view)) !== isAnd) return !isAnd;
      return isAnd;
    };
  }
  if (query.kind === 'not') {
    const matcher = steppedMatcherOf(query.part, now);
    return function* matchNone(view) {
      return !(yield* matcher(view));
    };
  }
  const test = testOfTerm(query, now);
  return function* matchTerm(view) {
    const result = test(view);
    const isMatch = typeof result === 'boolean' ? result : yield* result;
    yield;
    return isMatch;
  };
}

function testOfTerm(term: Term, now: number): Test {
  switch (term.kind) {
    case 'text':
      return testOfText(term.text);
    case 'method':
      return testOfMethod(term.methods);
    case 'path':
      return testOfPath(term.pattern);
    case 'query':
      return testOfParameter(term.name, term.value);
    case 'header':
      return testOfHeader(term.name, term.value);
    case 'body': {
      const needle = needleOf(term.text);
      return (view) => view.bodyContains(needle);
    }
    case 'json':
      return testOfJson(term);
    case 'source':
    case 'event':
      return testOfLabel(term.kind, term.patterns);
    case 'ip':
      return ({ request }) => isInNetwork(request.sourceIp, term.network);
    case 'size':
      return testOfSize(term.value);
    case 'after':
      return ({ request }) => request.receivedAt >= timeOf(term.moment, now);
    case 'before':
      return ({ request }) => request.receivedAt < timeOf(term.moment, now);
    case 'is':
      return testOfState(term.state);
    case 'status':
      return ({ request }) => term.statuses.some((status) => isStatus(request.delivery?.status, status));
  }
}

function testOfText(text: string): Test {
  const needle = needleOf(text);
  return (view) =>
    view.method.includes(needle.text) ||
    view.targets.some((target) => wireContains(target, needle)) ||
    view.headers.some(([name, value]) => wireContains(name, needle) || wireContains(value, needle)) ||
    view.bodyContains(needle);
}

function testOfMethod(methods: readonly string[]): Test {
  const folded = methods.map(foldCase);
  return (view) => folded.includes(view.method);
}

function testOfPath(pattern: Pattern): Test {
  const needles = pattern.map(needleOf);
  const [first] = needles;
  if (first !== undefined && needles.length === 1)
    return (view) => view.paths.some((path) => wireContains(path, first));
  const forms = [needles.map(({ bytes }) => bytes), needles.map(({ text }) => text)];
  return (view) => view.paths.some((path) => forms.some((form) => matchesPattern(path, form)));
}

/** Names match exactly, as UTF-8 or Latin-1. */
function testOfParameter(name: string, value: string | null): Test {
  const names = [name, utf8Text(name)];
  const needle = value === null ? undefined : needleOf(value);
  return (view) =>
    view.parameters.some(
      (parameter) => names.includes(parameter.name) && (needle === undefined || wireContains(parameter.value, needle)),
    );
}

function testOfHeader(name: string, value: string | null): Test {
  const folded = foldCase(name);
  const needle = value === null ? undefined : needleOf(value);
  return (view) =>
    view.headers.some((header) => header[0] === folded && (needle === undefined || wireContains(header[1], needle)));
}

function testOfLabel(kind: 'source' | 'event', patterns: readonly Pattern[]): Test {
  const folded = patterns.map((pattern) => pattern.map(foldCase));
  return ({ request }) => {
    const label = kind === 'source' ? request.source() : request.eventType();
    if (label === null) return false;
    const text = foldCase(label);
    return folded.some((pattern) => matchesPattern(text, pattern));
  };
}

function testOfJson({ path, value }: Extract<Term, { kind: 'json' }>): Test {
  const accepts = value.operator === 'is' ? acceptsText(value.pattern) : acceptsNumber(value);
  const keys = path.flatMap((step) => (step === 'any' || /^\d+$/.test(step.key) ? [] : [step.key]));
  return function* findValue(view) {
    const { bodyText } = view;
    if (bodyText === undefined) return false;
    // A fast path for most requests: without the key and without escapes, the walk can't find anything.
    if (keys.some((key) => !contains(bodyText, key)) && !bodyText.includes('\\')) return false;
    return (yield* someValueAt(bodyText, path, accepts)) && (yield* view.checkJson());
  };
}

/** Compares the decoded text of a string, and the source text of any other value. The number `1` also accepts `1.0`. */
function acceptsText(pattern: Pattern): (raw: string) => boolean {
  const folded = pattern.map(foldCase);
  const number = pattern.length === 1 ? parseExactNumber(pattern[0] ?? '') : undefined;
  return (raw) => {
    const text = raw.startsWith('"') ? unescapedString(raw) : raw;
    if (text === undefined) return false;
    if (matchesPattern(foldCase(text), folded)) return true;
    const found = number === undefined ? undefined : parseExactNumber(raw);
    return number !== undefined && found !== undefined && compareExact(found, number) === 0;
  };
}

function acceptsNumber(value: Comparison<string>): (raw: string) => boolean {
  return testOfOrder(value, (text) => {
    const limit = parseExactNumber(text);
    return (found: string) => {
      const number = parseExactNumber(found);
      return limit === undefined || number === undefined ? undefined : compareExact(number, limit);
    };
  });
}

function testOfSize(value: Extract<Term, { kind: 'size' }>['value']): Test {
  if (value.operator === '=') return ({ request }) => request.size === value.value;
  const test = testOfOrder(value, (limit) => (size: number) => size - limit);
  return ({ request }) => test(request.size);
}

/** `compareTo` turns a limit into a comparison with values. The comparison returns `undefined` for values that can't be compared. */
function testOfOrder<Limit, Value>(
  comparison: Comparison<Limit>,
  compareTo: (limit: Limit) => (value: Value) => number | undefined,
): (value: Value) => boolean {
  if (comparison.operator === '..') {
    const [from, to] = [compareTo(comparison.from), compareTo(comparison.to)];
    return (value) => (from(value) ?? -1) >= 0 && (to(value) ?? 1) <= 0;
  }
  const compare = compareTo(comparison.value);
  const isWanted = {
    '>': (order: number) => order > 0,
    '>=': (order: number) => order >= 0,
    '<': (order: number) => order < 0,
    '<=': (order: number) => order <= 0,
  }[comparison.operator];
  return (value) => isWanted(compare(value) ?? Number.NaN);
}

/** Returns a moment in a query as milliseconds since 1970. */
export function timeOf(moment: Moment, now: number): number {
  return 'at' in moment ? moment.at : now - moment.ago * UNIT_MS[moment.unit];
}

function testOfState(state: Extract<Term, { kind: 'is' }>['state']): Test {
  switch (state) {
    case 'saved':
      return ({ request }) => request.saved;
    case 'unsaved':
      return ({ request }) => !request.saved;
    case 'delivered':
      return ({ request }) => isDelivered(request.delivery?.status ?? null);
    case 'failed':
      return ({ request: { delivery } }) => delivery?.status !== undefined && !isDelivered(delivery.status);
    case 'pending':
      return ({ request }) => request.delivery?.pending === true;
  }
}

function isStatus(status: number | null | undefined, wanted: string): boolean {
  if (status === null || status === undefined) return false;
  return wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}
