import process from 'node:process';
import { run } from './run.ts';

/** Wiring and signals. The only file that touches the process. */

const interruption = new AbortController();
/** Under npm one press of Ctrl-C arrives several times: from the terminal, from npm, from scripts/setup.mjs. */
const SAME_PRESS_MS = 500;

/** The first signal ends the command in good order, a second one at once. */
function interrupted(): AbortSignal {
  let askedAt: number | undefined;
  const stop = (): void => {
    if (askedAt !== undefined && performance.now() - askedAt > SAME_PRESS_MS) process.exit(1);
    askedAt ??= performance.now();
    interruption.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  return interruption.signal;
}

// Every write is awaited and fails by itself; without a listener a stream's failure would end the process a second time.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, interrupted });
// All that was to be written is written; calls that are still under way are nobody's any more.
if (interruption.signal.aborted) process.exit();
