// `npm run screens`: pictures of every screen and state; what follows `--` chooses some of them by name.
import process from 'node:process';
import { buildIfStale } from './build.mjs';
import { findChromium } from './chromium.mjs';
import { at } from './places.mjs';
import { runForeground } from './run-foreground.mjs';
import { say } from './say.mjs';

try {
  const [path] = await Promise.all([findChromium(), buildIfStale(process.execPath)]);
  const args = [at('e2e', 'screens', 'take.ts'), ...process.argv.slice(2)];
  await runForeground(process.execPath, args, { cwd: at(), env: { ...process.env, CREEL_CHROMIUM: path } });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
