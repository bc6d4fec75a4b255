import { COMMANDS } from './commands.ts';
import { optionHelp } from './command.ts';
import type { Command } from './command.ts';
import type { z } from 'zod';

/** Text of `creel --help`. */
export function helpText(): string {
  return `Usage: creel <command> [options]

Capture webhooks from the command line.

${columns([...COMMANDS.values()].map((command) => [command.usage, command.description.summary]))}

On the machine of a server:
  creel serve                start the server; so does creel without a command
  creel admin --help         back up, restore, verify, import and manage its data

<endpoint> is a uid, a capture URL or the exact name of one of your endpoints.
In the output, control characters are escaped: \\x1b, \\r, \\u{202e}.
Help for one command: creel <command> --help
Exit codes: 0 success, 1 failure, 2 invalid command line.
`;
}

/** Text of `creel <command> --help`. */
export function commandHelp({ usage, description }: Command): string {
  const { summary, options, details } = description;
  const schemas: [string, z.ZodType][] = Object.entries(options.shape);
  const rows = schemas.map(([name, schema]) => {
    const { value, help = '' } = optionHelp.get(schema) ?? {};
    return [value === undefined ? `--${name}` : `--${name} ${value}`, help];
  });
  return `Usage: creel ${usage} [options]

${summary[0]?.toUpperCase()}${summary.slice(1)}.

${columns(rows)}
${details === undefined ? '' : `\n${details}\n`}`;
}

function columns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
