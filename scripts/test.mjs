// `npm test`: everything, in one go. Types, lint and format, then the builds of web app and server, Vitest and Playwright,
// with a PostgreSQL and a Chromium of its own. Ends with one line, added up from the runners' reports: `N passed, N failed`.
import { readFile, rm } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import process from 'node:process';
import { buildIfStale } from './build.mjs';
import { runChecks } from './checks.mjs';
import { findChromium } from './chromium.mjs';
import { withLock } from './lock.mjs';
import { at } from './places.mjs';
import { startPostgres } from './postgres.mjs';
import { endTogether, runAside } from './run-aside.mjs';
import { addUp, countJourneys, strictly, tallyCheck, tallyPlaywright, tallyVitest } from './tally.mjs';

const minute = 60_000;
const strict = process.env['CI'] === 'true';
const print = (line) => process.stdout.write(`${line}\n`);
const reports = {
  vitest: at('.cache', 'vitest.json'),
  skips: at('.cache', 'vitest-skips.json'),
  playwright: at('.cache', 'playwright.json'),
};

/** Just built: tests that need a server in a process start this one in place of the source (fixtures/server-program.ts). */
const serverBundle = at('packages', 'server', 'dist', 'main.js');

const readJson = async (path) => JSON.parse(await readFile(path, 'utf8').catch(() => 'null'));

/**
 * What the runners see: the bundled Node first in PATH, and none of the moods of whoever runs the tests. Test files, workers and servers
 * load the same modules hundreds of times; the compile cache takes about a third off that.
 */
function environment(extra) {
  const { NODE_ENV: _mood, ...rest } = process.env;
  const path = [dirname(process.execPath), at('node_modules', '.bin'), process.env['PATH'] ?? ''].join(delimiter);
  return { ...rest, PATH: path, NODE_COMPILE_CACHE: at('.cache', 'compile'), ...extra };
}

/** The database is started while the checks run; the tests that need one fail with this sentence if there is none. */
async function provideDatabase() {
  if (process.env['TEST_DATABASE_URL']) {
    return { url: process.env['TEST_DATABASE_URL'], stop: async () => {} };
  }
  return await startPostgres().catch((error) => {
    print(`No PostgreSQL: ${error.message}`);
    return { stop: async () => {} };
  });
}

async function check() {
  const found = await runChecks(environment());
  found.forEach(({ name, ok }) => print(`${ok ? '✓' : '✗'} ${name}`));
  return addUp(found.map(tallyCheck));
}

async function build() {
  const problem = await buildIfStale(process.execPath).then(
    () => undefined,
    (error) => error,
  );
  print(`${problem ? '✗' : '✓'} web app and server build`);
  return tallyCheck({ name: 'web app and server build', ok: !problem, output: problem?.message ?? '' });
}

async function vitest(env) {
  const reporters = ['default', 'json', at('scripts', 'vitest-skips.ts')].map((name) => `--reporter=${name}`);
  const args = [at('node_modules', 'vitest', 'vitest.mjs'), 'run', ...reporters, `--outputFile.json=${reports.vitest}`];
  const { code } = await runAside(process.execPath, args, { env, show: true, withinMs: 35 * minute });
  return tallyVitest(await readJson(reports.vitest), { code, skips: (await readJson(reports.skips)) ?? [] });
}

async function playwright(env, chromium) {
  const command = [at('node_modules', '@playwright', 'test', 'cli.js'), 'test'];
  if (chromium.problem) {
    return await withoutBrowser(command, env, chromium.problem);
  }
  const withBrowser = { ...env, CREEL_CHROMIUM: chromium.path };
  const { code } = await runAside(process.execPath, command, { env: withBrowser, show: true, withinMs: 35 * minute });
  return tallyPlaywright(await readJson(reports.playwright), { code });
}

/** Every browser test counts as skipped, with the reason. */
async function withoutBrowser(command, env, problem) {
  print(`No Chromium: ${problem}`);
  const list = [...command, '--list', '--reporter=json'];
  await runAside(process.execPath, list, { env: { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: reports.playwright } });
  const count = Math.max(1, countJourneys(await readJson(reports.playwright)));
  return { passed: 0, failed: 0, skipped: count, lines: [`- skipped: ${count} browser tests: ${problem}`] };
}

async function main() {
  const began = Date.now();
  await Promise.all(Object.values(reports).map((path) => rm(path, { force: true })));
  const database = provideDatabase();
  const chromium = findChromium({ preferShell: true }).then(
    (path) => ({ path }),
    (error) => ({ problem: error.message }),
  );
  try {
    const tallies = [await check(), await build()];
    const { url } = await database;
    const env = environment({ CREEL_SERVER_PROGRAM: serverBundle, ...(url ? { TEST_DATABASE_URL: url } : {}) });
    tallies.push(await vitest(env), await playwright(env, await chromium));
    return { tally: addUp(tallies), seconds: Math.round((Date.now() - began) / 1_000) };
  } finally {
    await (await database).stop();
  }
}

endTogether();
// Two runs in one clone would write over each other's reports and screenshots.
const onWait = () => print('Another test run is under way in this clone; waiting for it.');
const { tally, seconds } = await withLock(at('.cache', 'test.lock'), { onWait }, main);
const { passed, failed, lines } = strict ? strictly(tally) : tally;
print(['', ...lines, '', `It took ${seconds} s.`].join('\n'));
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
print(`${passed} passed, ${failed} failed`);
