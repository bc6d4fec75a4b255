import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

/** The streams, environment and signals of a command: those of the process, or a test's. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** After the first call, Ctrl-C aborts this signal and no longer ends the process. */
  readonly interrupted: () => AbortSignal;
}

/** Resolves when the stream has accepted the data, so that a caller that awaits it is never faster than the reader. Rejects if the stream fails. */
export function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

/** Colors text for standard output if that is a terminal and the user has not set `NO_COLOR` (https://no-color.org). */
export function colored(
  { stdout, env }: Pick<Terminal, 'stdout' | 'env'>,
  color: 'green' | 'red',
  text: string,
): string {
  const isPlain = stdout.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return isPlain ? text : styleText(color, text, { validateStream: false });
}
