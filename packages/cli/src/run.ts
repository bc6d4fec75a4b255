import { readdirSync } from 'node:fs';
import type { z } from 'zod';
import { codeOf, errorLines, UsageError } from './cli-error.ts';
import { Command, didYouMean, optionHelp } from './command.ts';
import type { ParsedCommand } from './command.ts';
import { VERSION } from './connection.ts';
import { sentence, visible } from './output.ts';
import { write } from './terminal.ts';
import type { Terminal } from './terminal.ts';

const FOLDER = new URL('commands/', import.meta.url);

/** Every command, by name. A file in `commands/` is a command: adding one needs no other change. */
export const COMMANDS: ReadonlyMap<string, Command> = await loadCommands();

async function loadCommands(): Promise<Map<string, Command>> {
  const files = readdirSync(FOLDER).filter((file) => /\.[jt]s$/.test(file) && !file.endsWith('.test.ts'));
  const commands = await Promise.all(files.map(loadCommand));
  return new Map(commands.map((command) => [command.name, command]));
}

async function loadCommand(file: string): Promise<Command> {
  const module: unknown = await import(new URL(file, FOLDER).href);
  if (typeof module === 'object' && module !== null && 'command' in module && module.command instanceof Command)
    return module.command;
  throw new Error(`commands/${file} must export \`command\`, made with defineCommand.`);
}

/** Success, failure, invalid command line. */
export type ExitCode = 0 | 1 | 2;

/** Runs `creel` with these words and prints every expected failure on standard error. Rejects only for a defect. */
export async function run(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    const invocation = parse(words);
    if (invocation.kind === 'version') await write(terminal.stdout, `creel ${VERSION}\n`);
    else if (invocation.kind === 'run') await invocation.execute(terminal);
    else await write(terminal.stdout, invocation.command === undefined ? helpText() : commandHelp(invocation.command));
    return 0;
  } catch (error) {
    // The reader closed the pipe (`creel requests x | head`).
    if (codeOf(error) === 'EPIPE') return 0;
    const lines = errorLines(error) ?? outputErrorLines(error);
    if (lines === undefined) throw error;
    await write(terminal.stderr, lines.map((line) => `${visible(line)}\n`).join('')).catch(() => {});
    return error instanceof UsageError ? 2 : 1;
  }
}

export type Invocation =
  | { readonly kind: 'version' }
  /** Without a command, help is about all of them. */
  | { readonly kind: 'help'; readonly command?: Command }
  | (Extract<ParsedCommand, { kind: 'run' }> & { readonly command: Command });

/** Reads the words after `creel`. @throws UsageError with a sentence that says what to type instead */
export function parse(words: readonly string[]): Invocation {
  const [first, ...rest] = words;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const [name] = rest;
    return name === undefined ? { kind: 'help' } : { kind: 'help', command: findCommand(name) };
  }
  if (first === '--version' || first === '-v' || first === '-V') return { kind: 'version' };
  if (first.startsWith('-')) throw new UsageError(`Write options after the command: creel <command> ${first}`);
  const command = findCommand(first);
  return { ...command.parse(rest), command };
}

function findCommand(name: string): Command {
  const command = COMMANDS.get(name);
  if (command === undefined)
    throw new UsageError(`There is no command “${name}”.${didYouMean(name, COMMANDS.keys())} See: creel --help`);
  return command;
}

/** For example, standard output is a file on a full disk. Commands report failures of other files themselves. */
function outputErrorLines(error: unknown): string[] | undefined {
  const isWrite = error instanceof Error && 'syscall' in error && error.syscall === 'write';
  return isWrite ? [`Standard output can't be written (${codeOf(error)}).`] : undefined;
}

function helpText(): string {
  return `Usage: creel <command> [options]

Capture webhooks from the command line.

${columns([...COMMANDS.values()].map((command) => [command.usage, command.description.summary]))}

On the machine of a server:
  creel serve                start the server; so does creel without a command
  creel admin --help         back up, restore, verify, import and manage its data

Environment variables:
  CREEL_URL                  server to use
  NODE_EXTRA_CA_CERTS        file of further certificates to trust, for https with your own authority
  NO_COLOR                   no colors on a terminal

<endpoint> is a uid, a capture URL or the exact name of one of your endpoints.
In the output, control characters are escaped: \\x1b, \\r, \\u{202e}.
Begin with: creel login
Help for one command: creel <command> --help
Version: creel --version
Exit codes: 0 success, 1 failure, 2 invalid command line.
`;
}

/** Text of `creel <command> --help`. */
function commandHelp({ usage, description }: Command): string {
  const { summary, options, details } = description;
  const schemas: [string, z.ZodType][] = Object.entries(options.shape);
  const rows = schemas.map(([name, schema]) => {
    const { value, help = '' } = optionHelp.get(schema) ?? {};
    return [value === undefined ? `--${name}` : `--${name} ${value}`, help];
  });
  return `Usage: creel ${usage} [options]

${sentence(summary)}

${columns(rows)}
${details === undefined ? '' : `\n${details}\n`}`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
