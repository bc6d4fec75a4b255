import process from 'node:process';
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';

/** The arguments of a command for developers. `--help` prints the usage and exits; so does a wrong option, with 2. */
export function readArguments<const Config extends ParseArgsConfig>(usage: string, config: Config) {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    process.exit();
  }
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return exitWrong(error.message, usage);
  }
}

/** Prints what is wrong with the arguments, and exits with 2. */
export function exitWrong(reason: string, usage: string): never {
  process.stderr.write(`${reason}\n${usage}\n`);
  process.exit(2);
}
