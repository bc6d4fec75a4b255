// Adds up the reports of the test runners. Pure: reports in, counts and lines out.
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

export interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What to print about failed and skipped tests. */
  readonly lines: readonly string[];
}

const NONE: TestSummary = { passed: 0, failed: 0, skipped: 0, lines: [] };
const PASSED: TestSummary = { ...NONE, passed: 1 };
const MAX_FAILURE_LINES = 12;

function failure(name: string, text: string): TestSummary {
  const lines = stripVTControlCharacters(text).trim().split('\n').slice(0, MAX_FAILURE_LINES);
  return { ...NONE, failed: 1, lines: [`✗ ${name}\n${lines.map((line) => `    ${line}`).join('\n')}`] };
}

/** The summary of tests that did not run, with the reason. */
export function skippedTests(skipped: number, text: string): TestSummary {
  return { ...NONE, skipped, lines: [`- skipped: ${text}`] };
}

/** One summary of several runs. */
export function addSummaries(summaries: readonly TestSummary[]): TestSummary {
  return summaries.reduce(
    (sum, one) => ({
      passed: sum.passed + one.passed,
      failed: sum.failed + one.failed,
      skipped: sum.skipped + one.skipped,
      lines: [...sum.lines, ...one.lines],
    }),
    NONE,
  );
}

/** A check counts as one test. */
export function summarizeCheck({ name, ok, output }: { name: string; ok: boolean; output: string }): TestSummary {
  return ok ? PASSED : failure(name, output);
}

/** CI=true: nothing may be left out, so a skipped test counts as failed. */
export function failSkipped(summary: TestSummary): TestSummary {
  return { ...summary, failed: summary.failed + summary.skipped, skipped: 0 };
}

const assertionSchema = z.object({
  status: z.string(),
  title: z.string(),
  ancestorTitles: z.array(z.string()),
  fullName: z.string(),
  failureMessages: z.array(z.string()),
});
const vitestFileSchema = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().optional(),
  assertionResults: z.array(assertionSchema),
});
const vitestSchema = z.object({ testResults: z.array(vitestFileSchema) });
export const skipsSchema = z.array(z.object({ name: z.string(), reason: z.string() }));

interface RunnerResult {
  /** Exit code of the runner. */
  readonly code: number;
}
interface VitestResult extends RunnerResult {
  /** Reasons of skipped tests, which the JSON report does not contain. */
  readonly skips?: z.infer<typeof skipsSchema>;
}

/** `report` is Vitest's JSON report, or null if there is none. */
export function summarizeVitest(report: unknown, { code, skips = [] }: VitestResult): TestSummary {
  const parsed = vitestSchema.safeParse(report);
  if (!parsed.success) return withoutReport('Vitest', code);
  const reasons = new Map(skips.map(({ name, reason }) => [name, reason]));
  const files = parsed.data.testResults.map((file) => summarizeFile(file, reasons));
  return checkRun('Vitest', addSummaries(files), code);
}

type Reasons = ReadonlyMap<string, string>;

function summarizeFile(file: z.infer<typeof vitestFileSchema>, reasons: Reasons): TestSummary {
  const summary = addSummaries(file.assertionResults.map((test) => summarizeAssertion(test, file.name, reasons)));
  if (file.status !== 'failed' || summary.failed > 0) return summary;
  // The file failed outside its tests: in an import or in a hook.
  const broken = failure(file.name, file.message || 'The file failed outside its tests.');
  if (summary.skipped === 0) return addSummaries([summary, broken]);
  const notRun = skippedTests(summary.skipped, `${summary.skipped} tests of ${file.name}: it failed before they began`);
  return addSummaries([{ ...NONE, passed: summary.passed }, broken, notRun]);
}

function summarizeAssertion(test: z.infer<typeof assertionSchema>, file: string, reasons: Reasons): TestSummary {
  if (test.status === 'passed') return PASSED;
  if (test.status === 'failed') return failure(test.fullName, test.failureMessages.join('\n'));
  const reason = reasons.get([...test.ancestorTitles.filter(Boolean), test.title].join(' > ')) ?? 'no reason given';
  return skippedTests(1, `${test.fullName} (${file}): ${reason}`);
}

const errorSchema = z.object({ message: z.string().optional(), stack: z.string().optional() });
const browserTestSchema = z.object({
  status: z.string(),
  annotations: z.array(z.object({ type: z.string(), description: z.string().optional() })),
  results: z.array(z.object({ errors: z.array(errorSchema) })),
});
const suiteSchema = z.object({
  title: z.string(),
  specs: z.array(z.object({ title: z.string(), tests: z.array(browserTestSchema) })).default([]),
  get suites() {
    return z.array(suiteSchema).default([]);
  },
});
const playwrightSchema = z.object({ suites: z.array(suiteSchema), errors: z.array(errorSchema) });

/** `report` is Playwright's JSON report, or null if there is none. */
export function summarizePlaywright(report: unknown, { code }: RunnerResult): TestSummary {
  const parsed = playwrightSchema.safeParse(report);
  if (!parsed.success) return withoutReport('Playwright', code);
  const tests = parsed.data.suites.flatMap((suite) => testsOf(suite));
  const errors = parsed.data.errors.map((error) => failure('Playwright', errorText(error)));
  return checkRun('Playwright', addSummaries([...tests.map(summarizeBrowserTest), ...errors]), code);
}

/** Number of tests in Playwright's JSON report, whether they ran or not. */
export function countBrowserTests(report: unknown): number {
  const parsed = playwrightSchema.safeParse(report);
  return parsed.success ? parsed.data.suites.flatMap((suite) => testsOf(suite)).length : 0;
}

interface BrowserTest {
  readonly name: string;
  readonly test: z.infer<typeof browserTestSchema>;
}

function testsOf(suite: z.infer<typeof suiteSchema>, parents: readonly string[] = []): BrowserTest[] {
  const titles = [...parents, suite.title];
  const own = suite.specs.flatMap(({ title, tests }) =>
    tests.map((test) => ({ name: [...titles, title].join(' > '), test })),
  );
  return [...own, ...suite.suites.flatMap((inner) => testsOf(inner, titles))];
}

function summarizeBrowserTest({ name, test }: BrowserTest): TestSummary {
  if (test.status === 'expected') return PASSED;
  if (test.status === 'skipped') {
    const reason = test.annotations.find(({ type }) => type === 'skip')?.description ?? 'no reason given';
    return skippedTests(1, `${name}: ${reason}`);
  }
  return failure(name, test.results.flatMap(({ errors }) => errors.map(errorText)).join('\n'));
}

function errorText({ stack, message = '' }: z.infer<typeof errorSchema>): string {
  return stack ?? message;
}

function withoutReport(runner: string, code: number): TestSummary {
  return failure(runner, `It exited with ${code} and wrote no report.`);
}

/** A run without tests is a failure, and so is a run that failed although no test did: an unhandled rejection, a worker that crashed. */
function checkRun(runner: string, summary: TestSummary, code: number): TestSummary {
  if (summary.passed + summary.failed === 0) return addSummaries([summary, failure(runner, 'No test ran.')]);
  if (code === 0 || summary.failed > 0) return summary;
  return addSummaries([
    summary,
    failure(runner, `It exited with ${code} although no test failed. See its output above.`),
  ]);
}
