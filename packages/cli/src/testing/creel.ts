import { PassThrough, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../run.ts';
import type { ExitCode } from '../run.ts';

/** A `creel` inside the test's process. */
export interface Running {
  readonly ended: Promise<ExitCode>;
  readonly stdout: () => string;
  readonly bytes: () => Buffer;
  readonly stderr: () => string;
  /** Types into standard input. */
  readonly type: (text: string) => void;
  readonly interrupt: () => void;
  /** Resolves once standard output or standard error is as wanted; rejects with both when `creel` ends before, or after 30 s. */
  readonly until: (is: () => boolean) => Promise<void>;
}

export interface Surroundings {
  /** XDG_CONFIG_HOME. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Which of its streams are terminals. */
  readonly tty?: { readonly stdin?: boolean; readonly stdout?: boolean };
}

const PATIENCE_MS = 30_000;

function sink(): { stream: Writable; pieces: Buffer[] } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return { stream, pieces };
}

export function start(words: readonly string[], { home, env, stdin, tty }: Surroundings): Running {
  const out = sink();
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
  const bytes = (): Buffer => Buffer.concat(out.pieces);
  const stdout = (): string => bytes().toString('utf8');
  const stderr = (): string => Buffer.concat(err.pieces).toString('utf8');
  const until: Running['until'] = async (is) => {
    for (const deadline = Date.now() + PATIENCE_MS; !is(); await sleep(10))
      if (code !== undefined || Date.now() > deadline)
        throw new Error(`creel ${words.join(' ')} (${code ?? 'still running'}) said:\n${stdout()}\n${stderr()}`);
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

/** Runs it to its end. */
export async function creel(
  words: readonly string[],
  surroundings: Surroundings,
): Promise<{ code: ExitCode; stdout: string; stderr: string; bytes: Buffer }> {
  const running = start(words, surroundings);
  const code = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr(), bytes: running.bytes() };
}
