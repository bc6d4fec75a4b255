import { ConfigProblem, readConfig } from '../config.ts';
import { StorageProblem } from '../database/store.ts';
import { codeOf } from '../error-code.ts';
import { AdminProblem } from './sqlite-files.ts';
import { runAdmin } from './commands.ts';

/** The process of `creel admin`: environment, output and exit code. */

function reasonOf(error: unknown): string {
  if (error instanceof ConfigProblem || error instanceof StorageProblem || error instanceof AdminProblem)
    return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

// The reader may close the pipe early: `creel admin list-users | head`.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

try {
  const config = readConfig(process.env);
  await runAdmin(process.argv.slice(2), config, (line) => process.stdout.write(`${line}\n`));
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = error instanceof AdminProblem && error.isUsage ? 2 : 1;
}
