// `npm test`: checks, builds, Vitest and Playwright, with a temporary PostgreSQL and a Chromium. The last line is `N passed, N failed`.
// `npm test -- --coverage` also measures the coverage of the server.
import { readFile, rm } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import process from 'node:process';
import { buildIfStale } from './build.ts';
import { runChecks } from './check.ts';
import type { CheckResult } from './check.ts';
import { findChromium } from './chromium.ts';
import { withLock } from './lock.mjs';
import { provideProgram } from './system-program.ts';
import { fromRoot } from './paths.mjs';
import { startPostgres } from './postgres.ts';
import { killChildrenOnSignal, runChild } from './run-child.ts';
import {
  addSummaries,
  countBrowserTests,
  failSkipped,
  skippedTests,
  skipsSchema,
  summarizeCheck,
  summarizePlaywright,
  summarizeVitest,
} from './test-summary.ts';
import type { TestSummary } from './test-summary.ts';

const MAX_RUN_MS = 35 * 60_000;
const REPORTS = {
  vitest: fromRoot('.cache', 'vitest.json'),
  skips: fromRoot('.cache', 'vitest-skips.json'),
  playwright: fromRoot('.cache', 'playwright.json'),
};

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8').catch(() => 'null'));
}

/** Puts the bundled Node first in PATH. The compile cache saves a third of the time to load modules in hundreds of processes. */
function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { NODE_ENV: _ignored, ...rest } = process.env;
  const path = [dirname(process.execPath), fromRoot('node_modules', '.bin'), process.env['PATH'] ?? ''].join(delimiter);
  return { ...rest, PATH: path, NODE_COMPILE_CACHE: fromRoot('.cache', 'compile'), ...extra };
}

/** Without a database, the tests that need one fail with the reason. */
async function provideDatabase(): Promise<{ url?: string; stop: () => Promise<void> }> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url) return { url, stop: async () => {} };
  return await startPostgres({ inMemory: true }).catch((error: unknown) => {
    print(`No PostgreSQL: ${messageOf(error)}`);
    return { stop: async () => {} };
  });
}

/** Prints the results of checks and counts them. */
function report(results: readonly CheckResult[]): TestSummary {
  for (const { name, ok } of results) print(`${ok ? '✓' : '✗'} ${name}`);
  return addSummaries(results.map(summarizeCheck));
}

async function build(): Promise<TestSummary> {
  const built = { name: 'web app and server build', ok: true, output: '' };
  const result = await buildIfStale().then(
    () => built,
    (error: unknown) => ({ ...built, ok: false, output: messageOf(error) }),
  );
  return report([result]);
}

async function runVitest(env: NodeJS.ProcessEnv): Promise<TestSummary> {
  const reporters = ['default', 'json', fromRoot('scripts', 'vitest-skip-reporter.ts')];
  const args = [
    fromRoot('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...reporters.map((name) => `--reporter=${name}`),
    `--outputFile.json=${REPORTS.vitest}`,
    ...process.argv.slice(2),
  ];
  const { code } = await runChild(process.execPath, args, { env, show: true, timeoutMs: MAX_RUN_MS });
  const skips = skipsSchema.safeParse(await readJson(REPORTS.skips)).data ?? [];
  return summarizeVitest(await readJson(REPORTS.vitest), { code, skips });
}

const PLAYWRIGHT = [fromRoot('node_modules', '@playwright', 'test', 'cli.js'), 'test'];

/** Counts every browser test as skipped. */
async function skipPlaywright(env: NodeJS.ProcessEnv, reason: string): Promise<TestSummary> {
  print(`No Chromium: ${reason}`);
  const list = [...PLAYWRIGHT, '--list', '--reporter=json'];
  await runChild(process.execPath, list, { env: { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: REPORTS.playwright } });
  const count = Math.max(1, countBrowserTests(await readJson(REPORTS.playwright)));
  return skippedTests(count, `${count} browser tests: ${reason}`);
}

const noBrowser = (error: unknown): { readonly reason: string } => ({ reason: messageOf(error) });

async function runPlaywright(
  env: NodeJS.ProcessEnv,
  browser: string | ReturnType<typeof noBrowser>,
): Promise<TestSummary> {
  if (typeof browser !== 'string') return await skipPlaywright(env, browser.reason);
  const withBrowser = { ...env, CREEL_CHROMIUM: browser };
  const { code } = await runChild(process.execPath, PLAYWRIGHT, {
    env: withBrowser,
    show: true,
    timeoutMs: MAX_RUN_MS,
  });
  return summarizePlaywright(await readJson(REPORTS.playwright), { code });
}

/**
 * Builds, then runs Vitest, then Playwright. The checks start with the build, which leaves a third of two cores idle.
 * All at once, tests of time limits fail by chance on two cores.
 */
async function runAll(): Promise<{ summary: TestSummary; seconds: number }> {
  const startedAt = performance.now();
  await Promise.all(Object.values(REPORTS).map((path) => rm(path, { force: true })));
  const database = provideDatabase();
  // Without it, the tests that need it fail with the reason.
  const programs = Promise.all((['nats-server', 'nginx', 'pgbouncer'] as const).map(provideProgram)).catch(
    (error: unknown) => print(messageOf(error)),
  );
  const browser = findChromium({ preferShell: true }).catch(noBrowser);
  const checks = runChecks(environment()).then(report);
  try {
    const built = await build();
    await programs;
    const { url } = await database;
    const env = environment({
      // Tests start this bundle, which was just built, instead of the source (fixtures/server-program.ts).
      CREEL_SERVER_PROGRAM: fromRoot('packages', 'server', 'dist', 'main.js'),
      ...(url === undefined ? {} : { TEST_DATABASE_URL: url }),
    });
    const parts = await Promise.all([checks, runVitest(env)]);
    const inBrowser = await runPlaywright(env, await browser);
    return {
      summary: addSummaries([built, ...parts, inBrowser]),
      seconds: Math.round((performance.now() - startedAt) / 1_000),
    };
  } finally {
    await (await database).stop();
  }
}

killChildrenOnSignal();
// Two runs in one clone would overwrite each other's reports and screenshots.
const onWait = (): void => print('Another test run is in progress in this clone. Waiting for it.');
const { summary, seconds } = await withLock(fromRoot('.cache', 'test.lock'), { onWait }, runAll);
const { passed, failed, lines } = process.env['CI'] === 'true' ? failSkipped(summary) : summary;
print(['', ...lines, '', `It took ${seconds} s.`].join('\n'));
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
print(`${passed} passed, ${failed} failed`);
