import process from 'node:process';
import { run } from './run.ts';

/** Connects `run` to the process: streams, signals and the exit code. */

const interruption = new AbortController();
/** Under npm, one Ctrl-C arrives several times: from the terminal, from npm and from scripts/setup.mjs. */
const SAME_PRESS_MS = 500;

/** The first signal ends the command in good order, a later one immediately. */
function interrupted(): AbortSignal {
  let interruptedAt: number | undefined;
  const stop = (): void => {
    if (interruptedAt !== undefined && performance.now() - interruptedAt > SAME_PRESS_MS) process.exit(1);
    interruptedAt ??= performance.now();
    interruption.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  // `creel` was killed, and nothing else would stop this process (scripts/programs.mjs).
  process.once('disconnect', stop);
  process.channel?.unref();
  return interruption.signal;
}

// Every write is awaited and rejects by itself. Without a listener, the same error would also crash the process.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, interrupted });
// All output is written. Pending calls must not keep the process alive.
if (interruption.signal.aborted) process.exit();
