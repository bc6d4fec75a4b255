// `npm run e2e`: the journeys in a browser alone; what follows `--` is handed to Playwright.
import process from 'node:process';
import { buildIfStale } from './build.mjs';
import { findChromium } from './chromium.mjs';
import { at } from './places.mjs';
import { runForeground } from './run-foreground.mjs';
import { say } from './say.mjs';

try {
  const [path] = await Promise.all([findChromium({ preferShell: true }), buildIfStale(process.execPath)]);
  const args = [at('node_modules', '@playwright', 'test', 'cli.js'), 'test', ...process.argv.slice(2)];
  await runForeground(process.execPath, args, { cwd: at(), env: { ...process.env, CREEL_CHROMIUM: path } });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
