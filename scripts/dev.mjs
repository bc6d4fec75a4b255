// `npm run dev`: the server restarts and the page reloads on change. The page is Vite's, on port 5173; what it asks of the
// server is passed on.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { at, root } from './places.mjs';
import { say } from './say.mjs';

const host = process.env['HOST'];
const reachable = !host || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
const server = `http://${reachable}:${process.env['PORT'] ?? '3000'}`;

const start = (args, env = {}) =>
  spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });

const parts = [
  start(['--watch', '--watch-preserve-output', at('packages', 'server', 'src', 'main.ts')]),
  start([at('node_modules', 'vite', 'bin', 'vite.js')], { CREEL_SERVER: server }),
];
say('Open http://127.0.0.1:5173/ in a browser. Ctrl-C ends both.');

/** Neither goes on without the other. */
const end = (code) => {
  process.exitCode ??= code;
  parts.forEach((part) => part.kill('SIGTERM'));
};
['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((signal) => process.on(signal, () => end(0)));
parts.forEach((part) => part.once('exit', (code) => end(code ?? 0)));
