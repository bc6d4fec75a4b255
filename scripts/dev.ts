// `npm run dev`: restarts the server and reloads the page on changes. Vite serves the page on port 5173 and forwards API calls.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { log } from './log.mjs';
import { fromRoot, root } from './paths.mjs';

const { HOST: host = '', PORT: port = '3000' } = process.env;
const server = `http://${['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host}:${port}`;

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
}

const children = [
  start(['--watch', '--watch-preserve-output', fromRoot('packages', 'server', 'src', 'main.ts')]),
  start([fromRoot('node_modules', 'vite', 'bin', 'vite.js')], { CREEL_SERVER: server }),
];
log('Open http://127.0.0.1:5173/ in a browser. Ctrl-C stops both servers.');

/** Stops both servers when one exits. */
function stop(code: number): void {
  process.exitCode ??= code;
  children.forEach((child) => child.kill('SIGTERM'));
}
['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((signal) => process.on(signal, () => stop(0)));
children.forEach((child) => child.once('exit', (code) => stop(code ?? 0)));
