// `npm run e2e` runs the browser tests, `npm run screens` takes pictures of the screens. The remaining arguments select some of them.
import process from 'node:process';
import { buildIfStale } from './build.ts';
import { findChromium } from './chromium.ts';
import { logError } from './log.mjs';
import { fromRoot, root } from './paths.mjs';
import { runForeground } from './run-foreground.mjs';

async function main([kind, ...rest]: readonly string[]): Promise<void> {
  const isScreens = kind === 'screens';
  const [browser] = await Promise.all([findChromium({ preferShell: !isScreens }), buildIfStale()]);
  const args = isScreens
    ? [fromRoot('e2e', 'screens', 'take.ts')]
    : [fromRoot('node_modules', '@playwright', 'test', 'cli.js'), 'test'];
  const env = { ...process.env, CREEL_CHROMIUM: browser };
  await runForeground(process.execPath, [...args, ...rest], { cwd: root, env });
}

main(process.argv.slice(2)).catch(logError);
