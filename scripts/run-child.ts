import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { root } from './paths.mjs';

const MAX_SHUTDOWN_MS = 1_500;
const isWindows = process.platform === 'win32';
const running = new Set<ChildProcess>();

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Inherit the output instead of collecting it. */
  readonly show?: boolean;
  /** Kill the program and its children after this time. */
  readonly timeoutMs?: number;
}

/**
 * Runs a program to its end. Each has its own process group, so that none of its children survives it. Resolves with code -1 if a signal
 * ended the program or it did not start.
 */
export function runChild(
  file: string,
  args: readonly string[],
  { env = process.env, show = false, timeoutMs }: RunOptions = {},
): Promise<{ code: number; output: string }> {
  const output = show ? 'inherit' : 'pipe';
  const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', output, output], detached: !isWindows });
  running.add(child);
  let text = '';
  child.stdout?.on('data', (chunk) => (text += String(chunk)));
  child.stderr?.on('data', (chunk) => (text += String(chunk)));
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => killGroup(child, 'SIGKILL'), timeoutMs);
  return new Promise((resolve) => {
    const finish = (code: number | null): void => {
      clearTimeout(timer);
      killGroup(child, 'SIGKILL');
      running.delete(child);
      resolve({ code: code ?? -1, output: text });
    };
    child.once('error', (error) => {
      text += error.message;
      finish(-1);
    });
    child.once('close', finish);
  });
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(isWindows ? pid : -pid, signal);
  } catch {
    // The group has already exited.
  }
}

/** Makes SIGINT, SIGTERM and SIGHUP end all running programs before this process. */
export function killChildrenOnSignal(): void {
  for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15, SIGHUP: 1 })) {
    process.once(signal, () => {
      running.forEach((child) => killGroup(child, 'SIGTERM'));
      setTimeout(() => {
        running.forEach((child) => killGroup(child, 'SIGKILL'));
        process.exit(128 + number);
      }, MAX_SHUTDOWN_MS);
    });
  }
}
