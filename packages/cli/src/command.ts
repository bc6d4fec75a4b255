import { isMisspelled } from '@creel/contract';
import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { z } from 'zod';
import { UsageError } from './cli-error.ts';
import type { Terminal } from './terminal.ts';

interface OptionHelp {
  /** Placeholder for the value, such as `N`. An option without one is a flag. */
  readonly value?: string;
  readonly help: string;
}

/** How help shows an option. Each option of a command is registered here. */
export const optionHelp = z.registry<OptionHelp>();

/** A command as help shows it. */
export interface CommandDescription {
  readonly name: string;
  /** One line for `creel --help`: an imperative without a period. */
  readonly summary: string;
  /** Text below the options in `creel <command> --help`. */
  readonly details?: string;
  /**
   * Positional arguments in their order. The last one may be a list that takes all further words. The others are required, unless
   * their schema is optional because the command says itself what is missing.
   */
  readonly arguments: z.ZodObject;
  /** Error messages in both schemas complete a sentence that begins with the name: "must be …". */
  readonly options: z.ZodObject;
}

/** A command with what it does. */
export interface CommandDefinition<
  Arguments extends z.ZodObject,
  Options extends z.ZodObject,
> extends CommandDescription {
  readonly arguments: Arguments;
  readonly options: Options;
  readonly run: (input: z.output<Arguments> & z.output<Options>, terminal: Terminal) => Promise<void>;
}

export type ParsedCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'run'; readonly input: object; readonly execute: (terminal: Terminal) => Promise<void> };

/** A command whose input types are erased, so that all commands fit in one list. */
export class Command {
  readonly description: CommandDescription;
  /** Reads the words after the command's name. @throws UsageError */
  readonly parse: (words: readonly string[]) => ParsedCommand;

  constructor(description: CommandDescription, parse: Command['parse']) {
    this.description = description;
    this.parse = parse;
  }

  get name(): string {
    return this.description.name;
  }

  /** Name and arguments: `show <endpoint> <index>`. */
  get usage(): string {
    const shape: [string, z.ZodType][] = Object.entries(this.description.arguments.shape);
    return [this.name, ...shape.map(([name, schema]) => (isList(schema) ? `<${name}>...` : `<${name}>`))].join(' ');
  }
}

/** Declares a command. A file in `commands/` exports it as `command`; nothing else has to list it. */
export function defineCommand<Arguments extends z.ZodObject, Options extends z.ZodObject>(
  definition: CommandDefinition<Arguments, Options>,
): Command {
  const command: Command = new Command(definition, (words) => {
    const found = readWords(command, words);
    if (found === 'help') return { kind: 'help' };
    const input = {
      ...check(definition.arguments, found.arguments, (name) => `The ${name}`),
      ...check(definition.options, found.options, (name) => `--${name}`),
    };
    return { kind: 'run', input, execute: (terminal) => definition.run(input, terminal) };
  });
  return command;
}

function check<Schema extends z.ZodObject>(
  schema: Schema,
  values: Readonly<Record<string, unknown>>,
  subject: (name: string) => string,
): z.output<Schema> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(`${subject(String(issue?.path[0]))} ${issue?.message}`);
}

function readWords(command: Command, words: readonly string[]) {
  const types = optionTypes(command.description.options);
  const { tokens } = parseArgs({
    args: words.map(mark),
    options: types,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const options: Record<string, string | boolean> = {};
  const positional: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positional.push(unmark(token.value));
    if (token.kind === 'option') options[token.name] = optionValue(command, types, token);
  }
  return options['help'] === true ? 'help' : { options, arguments: nameArguments(command, positional) };
}

function optionTypes(options: z.ZodObject): ParseArgsOptionsConfig {
  const schemas: [string, z.ZodType][] = Object.entries(options.shape);
  const rows = schemas.map(([name, schema]): [string, { type: 'string' | 'boolean' }] => [
    name,
    { type: optionHelp.get(schema)?.value === undefined ? 'boolean' : 'string' },
  ]);
  return { ...Object.fromEntries(rows), help: { type: 'boolean', short: 'h' } };
}

/** Marks a word that only looks like an option. No process argument can contain NUL. */
const MARK = '\0';

/** Marks negative numbers, and uids: one in 64 begins with a dash. A uid has at least 20 characters, more than any option. */
function mark(word: string): string {
  return /^-(?:[\w-]{19,}|\d+)$/.test(word) ? MARK + word : word;
}

const unmark = (word: string): string => (word.startsWith(MARK) ? word.slice(1) : word);

/** Ends a sentence about a wrong name with the one that is probably meant. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const [meant] = [...names].filter((name) => isMisspelled(written, name));
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function optionValue(
  command: Command,
  types: ParseArgsOptionsConfig,
  { name, rawName, value, inlineValue }: OptionToken,
): string | boolean {
  const type = types[name]?.type;
  if (type === undefined) {
    const meant = didYouMean(
      rawName,
      Object.keys(types).map((one) => `--${one}`),
    );
    throw new UsageError(`creel ${command.name} has no option ${rawName}.${meant} See: creel ${command.name} --help`);
  }
  if (type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
    return true;
  }
  // In `--limit --json` the value is missing, but a query or a name can begin with a dash: `--query -source:Stripe`.
  if (value === undefined || (inlineValue !== true && /^(?:--|-h?$)/.test(value)))
    throw new UsageError(`${rawName} needs a value.`);
  return unmark(value);
}

function isList(schema: z.ZodType | undefined): boolean {
  return schema instanceof z.ZodArray;
}

function nameArguments(command: Command, positional: readonly string[]): Record<string, string | string[]> {
  const shape: [string, z.ZodType][] = Object.entries(command.description.arguments.shape);
  const list = shape.find(([, schema]) => isList(schema))?.[0];
  const names = shape.map(([name]) => name).filter((name) => name !== list);
  const missing = names[positional.length];
  if (missing !== undefined && command.description.arguments.shape[missing]?.safeParse(undefined).success !== true)
    throw new UsageError(`Name the ${missing}: creel ${command.usage}`);
  const more = positional.slice(names.length);
  const [extra] = more;
  if (extra !== undefined && list === undefined)
    throw new UsageError(`creel ${command.name} does not take the argument “${extra}”.`);
  const given = Object.fromEntries(positional.slice(0, names.length).map((word, position) => [names[position], word]));
  return list === undefined ? given : { ...given, [list]: more };
}
