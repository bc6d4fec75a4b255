import type { Readable, Writable } from 'node:stream';

/** Where a command runs: the process, or a test's stand-in for it. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From the first call on, Ctrl-C aborts this signal and no longer ends the process. */
  readonly interrupted: () => AbortSignal;
}

/** Resolves when the stream has taken it, so that whoever awaits it is never faster than the reader. Rejects as the stream fails. */
export function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => (error ? reject(error) : resolve()));
  });
}
