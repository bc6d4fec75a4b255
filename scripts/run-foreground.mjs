// Runs a program as if it had been started in our place: same terminal, same signals, same end.
import { spawn } from 'node:child_process';
import process from 'node:process';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** npm hands on what the terminal has sent to all of us already: one key press, several signals. */
const sameWithinMs = 500;

/**
 * Starts `file`, hands every signal on and ends this process as the program ended: with its exit code, or by its signal.
 * One press of Ctrl-C reaches the program twice (from the terminal and from here), so it has to take that well.
 * @param {string} file
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export async function runForeground(file, args, options = {}) {
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  let last = -Infinity;
  const forward = (signal) => {
    if (performance.now() - last > sameWithinMs) {
      child.kill(signal);
    }
    last = performance.now();
  };
  const watch = whenOrphaned(() => child.kill('SIGTERM'));
  const handlers = forwarded.map((signal) => [signal, () => forward(signal)]);
  handlers.forEach(([signal, handler]) => process.on(signal, handler));
  const { code, signal } = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }));
  });
  clearInterval(watch);
  handlers.forEach(([name, handler]) => process.off(name, handler));
  if (signal) {
    process.kill(process.pid, signal);
    return;
  }
  process.exitCode = code ?? 1;
}

/** An npm that was killed leaves its script running; a server that nobody sees would then hold the port. */
function whenOrphaned(act) {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) {
      clearInterval(watch);
      act();
    }
  };
  const watch = process.env['npm_lifecycle_event'] ? setInterval(look, 250) : undefined;
  return watch;
}
