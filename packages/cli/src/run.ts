import { errorLines, UsageError } from './cli-error.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { VERSION } from './connection.ts';
import { commandHelp, helpText } from './help.ts';
import { visible } from './output.ts';
import { write } from './terminal.ts';
import type { Terminal } from './terminal.ts';

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
    if (systemCode(error) === 'EPIPE') return 0;
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
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly input: object;
      readonly execute: (terminal: Terminal) => Promise<void>;
    };

/** Reads the words after `creel`. @throws UsageError with a sentence that says what to type instead */
export function parse(words: readonly string[]): Invocation {
  const [first, ...rest] = words;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const [name] = rest;
    return name === undefined ? { kind: 'help' } : { kind: 'help', command: findCommand(name) };
  }
  if (first === '--version') return { kind: 'version' };
  if (first.startsWith('-')) throw new UsageError(`Write options after the command: creel <command> ${first}`);
  const command = findCommand(first);
  return { ...command.parse(rest), command };
}

function findCommand(name: string): Command {
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(`There is no command “${name}”. See: creel --help`);
  return command;
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** For example a full disk behind standard output. Commands report failures of their own files themselves. */
function outputErrorLines(error: unknown): string[] | undefined {
  const code = systemCode(error);
  const isWrite = error instanceof Error && 'syscall' in error && error.syscall === 'write';
  return isWrite && code !== undefined ? [`Standard output can't be written (${code}).`] : undefined;
}
