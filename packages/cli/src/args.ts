import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { COMMANDS, isCommandName } from './command-table.ts';
import type { CommandName, CommandRow } from './command-table.ts';
import { parseQuery } from '@creel/contract';
import { UsageProblem } from './cli-problem.ts';

/** What the person asked for, checked; `run` carries one of these. */
export type Invocation =
  | { readonly command: 'login'; readonly server?: string; readonly username?: string }
  | { readonly command: 'logout'; readonly server?: string }
  | { readonly command: 'endpoints'; readonly server?: string; readonly json: boolean }
  | { readonly command: 'create'; readonly server?: string; readonly name?: string }
  | (OnEndpoint<'requests'> & {
      readonly json: boolean;
      readonly limit?: number;
      readonly before?: number;
      readonly query?: string;
    })
  | (OnEndpoint<'follow'> & { readonly json: boolean; readonly from?: number; readonly query?: string })
  | (OnEndpoint<'forward'> & {
      readonly url: string;
      readonly json: boolean;
      readonly from?: number;
      readonly query?: string;
    })
  | (OnEndpoint<'replay'> & { readonly index: number; readonly url: string; readonly json: boolean })
  | (OnEndpoint<'show'> & { readonly index: number })
  | (OnEndpoint<'body'> & { readonly index: number; readonly output?: string; readonly force: boolean });

interface OnEndpoint<Name extends CommandName> {
  readonly command: Name;
  readonly server?: string;
  /** A uid, a capture URL or a name, as it was typed. */
  readonly endpoint: string;
}
export type InvocationOf<Name extends CommandName> = Extract<Invocation, { command: Name }>;

/** `help` without a command is about all of them. */
export type Asked =
  | { readonly kind: 'run'; readonly invocation: Invocation }
  | { readonly kind: 'help'; readonly about?: CommandName }
  | { readonly kind: 'version' };

/** Reads the words behind `creel`. @throws UsageProblem with a sentence that says what to type instead */
export function parse(words: readonly string[]): Asked {
  const [first, ...rest] = words;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') return helpAbout(rest[0]);
  if (first === '--version') return { kind: 'version' };
  if (first.startsWith('-'))
    throw new UsageProblem(`Say the command first, options behind it: creel <command> ${first}`);
  if (!isCommandName(first)) throw new UsageProblem(`There is no command “${first}”. See: creel --help`);
  const typed = read(first, rest);
  return typed.has('help') ? { kind: 'help', about: first } : { kind: 'run', invocation: BUILD[first](typed) };
}

function helpAbout(word: string | undefined): Asked {
  if (word === undefined) return { kind: 'help' };
  if (isCommandName(word)) return { kind: 'help', about: word };
  throw new UsageProblem(`There is no command “${word}”. See: creel --help`);
}

/** The words of one command, sorted but not yet understood. */
interface Typed {
  has(flag: string): boolean;
  text(option: string): string | undefined;
  /** An argument by its place; there, because `read` has counted. */
  at(place: number): string;
}

/** Marks what only looks like an option. No argument of a process can hold NUL, so no other word begins like this. */
const MARK = '\0';

/** One uid in 64 begins with a dash. No option is as long as a uid (at least 20 characters, contract 2). */
function markUid(word: string): string {
  return /^-[\w-]{19,}$/.test(word) ? MARK + word : word;
}

const unmark = (word: string): string => (word.startsWith(MARK) ? word.slice(1) : word);

function read(name: CommandName, words: readonly string[]): Typed {
  const row: CommandRow = COMMANDS[name];
  const options: ParseArgsOptionsConfig = { ...row.options, help: { type: 'boolean', short: 'h' } };
  const { tokens } = parseArgs({
    args: words.map(markUid),
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const values = new Map<string, string>();
  const places: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') places.push(unmark(token.value));
    if (token.kind === 'option') values.set(token.name, valueOf(name, options[token.name]?.type, token));
  }
  if (!values.has('help')) count(name, row.places, places);
  return { has: (flag) => values.has(flag), text: (option) => values.get(option), at: (place) => places[place] ?? '' };
}

interface OptionToken {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function valueOf(name: CommandName, type: 'string' | 'boolean' | undefined, token: OptionToken): string {
  const { rawName, value, inlineValue } = token;
  if (type === undefined) throw new UsageProblem(`creel ${name} has no option ${rawName}. See: creel ${name} --help`);
  if (type === 'boolean') {
    if (value !== undefined) throw new UsageProblem(`${rawName} takes no value.`);
    return '';
  }
  // `--limit --json` is a value that was forgotten; whoever means one with a dash writes `--name=-x`.
  if (value === undefined || (inlineValue !== true && value.startsWith('-')))
    throw new UsageProblem(`${rawName} needs a value.`);
  return unmark(value);
}

function count(name: CommandName, wanted: readonly string[], given: readonly string[]): void {
  const missing = wanted[given.length];
  if (missing !== undefined) throw new UsageProblem(`Say which ${missing}: creel ${name} ${usageOf(wanted)}`);
  const extra = given[wanted.length];
  if (extra !== undefined) throw new UsageProblem(`creel ${name} does not know what to do with “${extra}”.`);
}

const usageOf = (places: readonly string[]): string => places.map((place) => `<${place}>`).join(' ');

function whole(text: string | undefined, what: string, from: 0 | 1): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text) || Number(text) < from)
    throw new UsageProblem(`${what} must be a whole number from ${from} up.`);
  return Number(text);
}

/** The index of a request, as lines show it. */
const indexOf = (typed: Typed): number => whole(typed.at(1), 'The index', 0) ?? 0;

const server = (typed: Typed): { server?: string } => optional('server', typed.text('server'));

const from = (typed: Typed): { from?: number } => optional('from', whole(typed.text('from'), '--from', 0));

/** The text of a query that can be read; absent where it has no term. */
function query(typed: Typed): { query?: string } {
  const text = typed.text('query');
  if (text === undefined || text.trim() === '') return {};
  const parsed = parseQuery(text);
  if (!parsed.ok) throw new UsageProblem(`The query is wrong at character ${parsed.position + 1}. ${parsed.sentence}`);
  return { query: text };
}

/** A field that is absent when there is no value, as `exactOptionalPropertyTypes` would have it. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value };
function optional(key: string, value: unknown): object {
  return value === undefined ? {} : { [key]: value };
}

const BUILD: { [Name in CommandName]: (typed: Typed) => InvocationOf<Name> } = {
  login: (typed) => ({ command: 'login', ...server(typed), ...optional('username', typed.text('username')) }),
  logout: (typed) => ({ command: 'logout', ...server(typed) }),
  endpoints: (typed) => ({ command: 'endpoints', ...server(typed), json: typed.has('json') }),
  create: (typed) => ({ command: 'create', ...server(typed), ...optional('name', typed.text('name')) }),
  requests: (typed) => ({
    command: 'requests',
    ...server(typed),
    endpoint: typed.at(0),
    json: typed.has('json'),
    ...optional('limit', whole(typed.text('limit'), '--limit', 1)),
    ...optional('before', whole(typed.text('before'), '--before', 0)),
    ...query(typed),
  }),
  follow: (typed) => ({
    command: 'follow',
    ...server(typed),
    endpoint: typed.at(0),
    json: typed.has('json'),
    ...from(typed),
    ...query(typed),
  }),
  forward: (typed) => ({
    command: 'forward',
    ...server(typed),
    endpoint: typed.at(0),
    url: typed.at(1),
    json: typed.has('json'),
    ...from(typed),
    ...query(typed),
  }),
  replay: (typed) => ({
    command: 'replay',
    ...server(typed),
    endpoint: typed.at(0),
    index: indexOf(typed),
    url: typed.at(2),
    json: typed.has('json'),
  }),
  show: (typed) => ({ command: 'show', ...server(typed), endpoint: typed.at(0), index: indexOf(typed) }),
  body: (typed) => ({
    command: 'body',
    ...server(typed),
    endpoint: typed.at(0),
    index: indexOf(typed),
    force: typed.has('force'),
    ...optional('output', typed.text('output')),
  }),
};
