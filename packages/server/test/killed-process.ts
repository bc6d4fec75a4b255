import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A child process that prints one word and then waits to be killed. */
export interface WaitingProcess {
  readonly kill: () => Promise<void>;
}

/** Starts a file of this folder and waits until it prints the word. @throws Error with its other output */
export async function startAndWaitFor(word: string, file: string, args: readonly string[]): Promise<WaitingProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (piece: string) => errors.push(piece));
  const said = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      if (piece.includes(word)) resolve();
    });
  });
  await Promise.race([
    said,
    ended.then(() => {
      throw new Error(`The process ended before it said ${word}: ${errors.join('')}`);
    }),
  ]);
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
