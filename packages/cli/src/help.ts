import { COMMANDS } from './command-table.ts';
import type { CommandName, CommandRow } from './command-table.ts';

/** What `creel --help` prints. */
export function helpText(): string {
  const rows: [string, CommandRow][] = Object.entries(COMMANDS);
  return `Usage: creel <command> [options]

Catches webhooks from the command line.

${columns(rows.map(([name, row]) => [usage(name, row.places), row.summary]))}

An <endpoint> is a uid, a capture URL or the exact name of one of your endpoints.
In lines and in show, control characters stand escaped: \\x1b, \\r, \\u{202e}.
More on one: creel <command> --help
Exit codes: 0 done, 1 it did not work, 2 it was not understood.
`;
}

/** What `creel <command> --help` prints. */
export function helpOn(name: CommandName): string {
  const row: CommandRow = COMMANDS[name];
  const options = Object.entries(row.options).map(([option, { value, help }]) => [
    value === undefined ? `--${option}` : `--${option} ${value}`,
    help,
  ]);
  const more = row.more === undefined ? '' : `\n${row.more}\n`;
  return `Usage: creel ${usage(name, row.places)} [options]

${row.summary[0]?.toUpperCase()}${row.summary.slice(1)}.

${columns(options)}
${more}`;
}

function usage(name: string, places: readonly string[]): string {
  return [name, ...places.map((place) => `<${place}>`)].join(' ');
}

function columns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
