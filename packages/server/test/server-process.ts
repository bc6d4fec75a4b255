import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCache } from '../../../fixtures/compile-cache.ts';
import { serverProgram } from '../../../fixtures/server-program.ts';
import { freePort } from '../../../fixtures/free-port.ts';

const START_LIMIT_MS = 50_000;

/** Creel as a separate process, for tests of crashes, signals and sockets. */
export type ServerProcess = {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Everything it wrote to standard output and standard error. */
  readonly output: () => string;
  /** Null while it runs; otherwise the exit code or signal. */
  readonly ended: () => number | string | null;
  /** Resident memory in bytes, from /proc. */
  readonly residentBytes: () => Promise<number>;
  readonly kill: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | string>;
  /** Ends it, and removes its data folder unless the caller gave it. */
  readonly stop: () => Promise<void>;
};

async function untilAnswered(url: string, ended: () => number | string | null, output: () => string): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline && ended() === null) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(25);
  }
  throw new Error(`Creel did not become ready (${String(ended() ?? 'still running')}). It said:\n${output()}`);
}

function outputOf(child: ChildProcess): () => string {
  const pieces: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr?.on('data', (piece: Buffer) => pieces.push(piece));
  return () => Buffer.concat(pieces).toString('utf8');
}

/** Waits for the end of the process. */
async function whenEnded(child: ChildProcess): Promise<number | string> {
  while (child.exitCode === null && child.signalCode === null) await sleep(5);
  return child.exitCode ?? child.signalCode ?? 'gone';
}

/**
 * Starts Creel on a free port with its own data folder and waits until it is ready. Only the given variables are set,
 * except NODE_COMPILE_CACHE for speed. @throws Error with all output when it does not become ready
 */
export async function startServerProcess(
  settings: Readonly<Record<string, string>> = {},
  given: {
    readonly dataDir?: string;
    readonly port?: number;
    /** A file descriptor for its standard output, which is then not part of `output`. */
    readonly stdout?: number;
    /** The path that must respond 200 after the start, if not `/readyz`. */
    readonly untilPath?: string;
    /** The program, if not the one of this version. */
    readonly program?: string;
  } = {},
): Promise<ServerProcess> {
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'creel-server-')));
  const port = given.port ?? (await freePort());
  const env = { PORT: String(port), DATA_DIR: dataDir, DEFAULT_TIER: 'PREMIUM', LOG_LEVEL: 'warn', ...settings };
  const child = spawn(process.execPath, [given.program ?? serverProgram], {
    env: { ...compileCache, ...env },
    cwd: dataDir,
    stdio: ['ignore', given.stdout ?? 'pipe', 'pipe'],
  });
  const output = outputOf(child);
  const ended = (): number | string | null => child.exitCode ?? child.signalCode;
  const kill = (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string> => {
    child.kill(signal);
    return whenEnded(child);
  };
  const stop = async (): Promise<void> => {
    if (ended() === null) await kill('SIGKILL');
    if (given.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const origin = `http://127.0.0.1:${port}`;
  await untilAnswered(origin + (given.untilPath ?? '/readyz'), ended, output).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const pid = child.pid ?? 0;
  return { port, origin, pid, dataDir, output, ended, residentBytes: () => residentBytes(pid), kill, stop };
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
