import { PassThrough, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { run } from '../src/run.ts';
import type { ExitCode } from '../src/run.ts';
import type { Person } from './server-process.ts';

/** A `creel` that runs in the test's process. */
export interface Running {
  readonly ended: Promise<ExitCode>;
  readonly stdout: () => string;
  readonly bytes: () => Buffer;
  readonly stderr: () => string;
  /** Types into standard input. */
  readonly type: (text: string) => void;
  readonly interrupt: () => void;
  /** Resolves when `is` returns true. Rejects with all output if `creel` ends first, or after a long wait. */
  readonly until: (is: () => boolean) => Promise<void>;
}

export interface RunOptions {
  /** XDG_CONFIG_HOME. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Streams that are terminals. */
  readonly tty?: { readonly stdin?: boolean; readonly stdout?: boolean };
  /** The error of each write to standard output. */
  readonly stdoutError?: Error;
}

const WAIT_LIMIT_MS = 100_000;

function sink(error?: Error): { stream: Writable; chunks: Buffer[] } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (error === undefined) chunks.push(chunk);
      done(error);
    },
  });
  return { stream, chunks };
}

export function start(words: readonly string[], { home, env, stdin, tty, stdoutError }: RunOptions): Running {
  const out = sink(stdoutError);
  out.stream.on('error', () => {});
  const err = sink();
  const input = new PassThrough();
  if (tty?.stdin !== true) input.end(stdin ?? '');
  const interruption = new AbortController();
  let code: ExitCode | undefined;
  const ended = run(words, {
    stdin: Object.assign(input, { isTTY: tty?.stdin === true }),
    stdout: Object.assign(out.stream, { isTTY: tty?.stdout === true }),
    stderr: err.stream,
    env: { XDG_CONFIG_HOME: home, ...env },
    interrupted: () => interruption.signal,
  }).then((given) => (code = given));
  const bytes = (): Buffer => Buffer.concat(out.chunks);
  const stdout = (): string => bytes().toString('utf8');
  const stderr = (): string => Buffer.concat(err.chunks).toString('utf8');
  const until: Running['until'] = async (is) => {
    for (const deadline = performance.now() + WAIT_LIMIT_MS; !is(); await sleep(10))
      if (code !== undefined || performance.now() > deadline)
        throw new Error(`creel ${words.join(' ')} (${code ?? 'still running'}) wrote:\n${stdout()}\n${stderr()}`);
  };
  return {
    ended,
    stdout,
    bytes,
    stderr,
    until,
    type: (text) => input.write(text),
    interrupt: () => interruption.abort(),
  };
}

/** Starts a command that the end of the test interrupts, and waits until it has written this to standard error. */
export async function startUntil(written: string, words: readonly string[], options: RunOptions): Promise<Running> {
  const running = start(words, options);
  onTestFinished(async () => {
    running.interrupt();
    await running.ended;
  });
  await running.until(() => running.stderr().includes(written));
  return running;
}

/** Runs `creel` and waits until it exits. */
export async function creel(
  words: readonly string[],
  options: RunOptions,
): Promise<{ code: ExitCode; stdout: string; stderr: string; bytes: Buffer }> {
  const running = start(words, options);
  const code = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr(), bytes: running.bytes() };
}

/** Logs a user in with the configuration folder `home`. */
export const creelLogin = (origin: string, { username, password }: Person, home: string) =>
  creel(['login', '--server', origin, '--username', username], { home, stdin: password });

/** The lines of an output. */
export const lines = (text: string): string[] => text.split('\n').slice(0, -1);
