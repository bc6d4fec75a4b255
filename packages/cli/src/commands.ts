import { readdirSync } from 'node:fs';
import { Command } from './command.ts';

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
