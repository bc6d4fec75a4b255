import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of ours that says one word and then waits to be killed. */
export interface WaitingProcess {
  readonly kill: () => Promise<void>;
}

/** Starts a file of this folder and comes back when it has said the word. @throws Error with what it said instead */
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
