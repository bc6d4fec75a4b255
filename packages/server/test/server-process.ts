import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache, serverProgram } from '../../../fixtures/server-program.ts';
import { freePort } from '../../../fixtures/free-port.ts';
import { answersAt, startProgram } from '../../../fixtures/start-program.ts';

/** Creel as a separate process, for tests of crashes, signals and sockets. */
export type ServerProcess = Awaited<ReturnType<typeof startServerProcess>>;

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
    /** The path that must answer after the start, if not `/readyz`. */
    readonly untilPath?: string;
    /** A command that starts Node, such as `nsenter` with its options. */
    readonly launcher?: readonly string[];
    /** The program, if not the one of this version. */
    readonly program?: string;
  } = {},
) {
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'creel-server-')));
  const port = given.port ?? (await freePort());
  const env = { PORT: String(port), DATA_DIR: dataDir, DEFAULT_TIER: 'PREMIUM', LOG_LEVEL: 'warn', ...settings };
  const origin = `http://127.0.0.1:${port}`;
  const removeData = async (): Promise<void> => {
    if (given.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const command = [...(given.launcher ?? []), process.execPath, given.program ?? serverProgram];
  const [file = process.execPath, ...args] = command;
  const program = await startProgram(file, args, {
    env: { ...compileCache, ...env },
    cwd: dataDir,
    stdout: given.stdout,
    isReady: answersAt(origin + (given.untilPath ?? '/readyz')),
  }).catch(async (error: unknown) => {
    await removeData();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await program.kill('SIGKILL');
    await removeData();
  };
  return {
    ...program,
    port,
    /** `http://127.0.0.1:port` */
    origin,
    dataDir,
    /** Resident memory in bytes, from /proc. */
    residentBytes: () => residentBytes(program.pid),
    /** Ends it, and removes its data folder unless the caller gave it. */
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
