// Runs a program instead of this process: same terminal, same signals, same exit.
import { spawn } from 'node:child_process';
import process from 'node:process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** npm forwards a signal that the terminal has already sent to all processes: one key press, several signals. */
const SAME_PRESS_MS = 500;
const PARENT_CHECK_MS = 250;

/**
 * Starts `file`, forwards signals and exits with its exit code or signal. The program must tolerate two signals for one press of
 * Ctrl-C: one from the terminal and one from here.
 * @param {string} file
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export async function runForeground(file, args, options = {}) {
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  let lastSignalAt = -Infinity;
  const forward = (signal) => {
    if (performance.now() - lastSignalAt > SAME_PRESS_MS) child.kill(signal);
    lastSignalAt = performance.now();
  };
  const parentCheck = onOrphaned(() => child.kill('SIGTERM'));
  SIGNALS.forEach((signal) => process.on(signal, forward));
  const { code, signal } = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }));
  });
  clearInterval(parentCheck);
  SIGNALS.forEach((name) => process.off(name, forward));
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code ?? 1;
}

/** If npm is killed, its script keeps running and the server keeps the port. */
function onOrphaned(act) {
  if (!process.env['npm_lifecycle_event']) return undefined;
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    act();
  }, PARENT_CHECK_MS);
  return check;
}
