// Runs programs beside this one so that none outlives it: each in a process group of its own, ended as a whole.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { root } from './places.mjs';

const running = new Set();

/**
 * Runs a program to its end.
 * @param {string} file
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, show?: boolean, withinMs?: number }} [options] `show` lets its output through as it
 *   comes, in place of gathering it; after `withinMs` it is ended with all its children.
 * @returns {Promise<{ code: number, output: string, late: boolean }>} code -1 when a signal ended it or it did not start
 */
export function runAside(file, args, { env = process.env, show = false, withinMs } = {}) {
  const pipes = show ? 'inherit' : 'pipe';
  const ownGroup = process.platform !== 'win32';
  const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', pipes, pipes], detached: ownGroup });
  running.add(child);
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  let late = false;
  const deadline = withinMs && setTimeout(() => ((late = true), endGroup(child, 'SIGKILL')), withinMs);
  return new Promise((resolve) => {
    const done = (code) => {
      clearTimeout(deadline);
      // What it started and left behind goes with it.
      endGroup(child, 'SIGKILL');
      running.delete(child);
      resolve({ code: code ?? -1, output, late });
    };
    child.once('error', (error) => ((output += error.message), done(-1)));
    child.once('close', done);
  });
}

function endGroup(child, signal) {
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    // It is gone already.
  }
}

/** On Ctrl-C and the like: ends all that is running, then this process. */
export function endTogether() {
  for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15, SIGHUP: 1 })) {
    process.once(signal, () => {
      running.forEach((child) => endGroup(child, 'SIGTERM'));
      setTimeout(() => {
        running.forEach((child) => endGroup(child, 'SIGKILL'));
        process.exit(128 + number);
      }, 1_500);
    });
  }
}
