// Adds up what the runners report. Pure: reports in, numbers and lines out.

/**
 * @typedef {{ passed: number, failed: number, skipped: number, lines: string[] }} Tally
 */

const indent = (text, rows = 12) =>
  String(text ?? '')
    // oxlint-disable-next-line no-control-regex -- the runners colour their messages
    .replace(/\u001b\[[0-9;]*m/g, '')
    .trim()
    .split('\n')
    .slice(0, rows)
    .map((line) => `    ${line}`)
    .join('\n');

const failure = (name, text) => `✗ ${name}\n${indent(text)}`;

/** @param {Tally[]} tallies @returns {Tally} */
export function addUp(tallies) {
  const sum = { passed: 0, failed: 0, skipped: 0, lines: [] };
  for (const tally of tallies) {
    sum.passed += tally.passed;
    sum.failed += tally.failed;
    sum.skipped += tally.skipped;
    sum.lines.push(...tally.lines);
  }
  return sum;
}

/** A check that either holds or does not. @returns {Tally} */
export function tallyCheck({ name, ok, output }) {
  return ok
    ? { passed: 1, failed: 0, skipped: 0, lines: [] }
    : { passed: 0, failed: 1, skipped: 0, lines: [failure(name, output.split('\n').slice(0, 200).join('\n'))] };
}

/**
 * Vitest's JSON report. A file that could not be loaded counts as one failed test, and so does a run that went wrong though
 * no test failed (an unhandled rejection, a worker that died).
 * @returns {Tally}
 */
export function tallyVitest(report, { code, skips = [] }) {
  if (!report) {
    return nothing('Vitest', code);
  }
  const reasons = new Map(skips.map(({ name, reason }) => [name, reason]));
  const tally = addUp(report.testResults.map((file) => tallyFile(file, reasons)));
  return settled('Vitest', tally, code);
}

function tallyFile(file, reasons) {
  const tally = addUp(file.assertionResults.map((one) => tallyAssertion(one, file, reasons)));
  if (file.status === 'failed' && tally.failed === 0) {
    return brokenFile(file, tally);
  }
  return tally;
}

/** It failed outside its tests: in its imports or in what prepares them. The tests that never began share one line. */
function brokenFile(file, { passed, skipped }) {
  const lines = [failure(file.name, file.message || 'The file failed outside its tests.')];
  if (skipped > 0) {
    lines.push(`- skipped: ${skipped} tests of ${file.name}: it failed before they began`);
  }
  return { passed, failed: 1, skipped, lines };
}

function tallyAssertion(one, file, reasons) {
  if (one.status === 'passed') {
    return { passed: 1, failed: 0, skipped: 0, lines: [] };
  }
  if (one.status === 'failed') {
    return { passed: 0, failed: 1, skipped: 0, lines: [failure(one.fullName, one.failureMessages.join('\n'))] };
  }
  const reason = reasons.get([...one.ancestorTitles.filter(Boolean), one.title].join(' > ')) ?? 'no reason given';
  return { passed: 0, failed: 0, skipped: 1, lines: [`- skipped: ${one.fullName} (${file.name}): ${reason}`] };
}

/** Playwright's JSON report. @returns {Tally} */
export function tallyPlaywright(report, { code }) {
  if (!report) {
    return nothing('Playwright', code);
  }
  const tests = report.suites.flatMap((suite) => testsOf(suite, []));
  const broken = report.errors.map((error) => ({
    passed: 0,
    failed: 1,
    skipped: 0,
    lines: [failure('Playwright', error.stack ?? error.message)],
  }));
  return settled('Playwright', addUp([...tests.map(tallyJourney), ...broken]), code);
}

/** How many tests a report of Playwright's lists, whether they ran or not. */
export function countJourneys(report) {
  return (report?.suites ?? []).flatMap((suite) => testsOf(suite, [])).length;
}

function testsOf(suite, above) {
  const titles = [...above, suite.title];
  const own = (suite.specs ?? []).flatMap((spec) =>
    spec.tests.map((test) => ({ name: [...titles, spec.title].join(' > '), test })),
  );
  return [...own, ...(suite.suites ?? []).flatMap((inner) => testsOf(inner, titles))];
}

function tallyJourney({ name, test }) {
  if (test.status === 'expected') {
    return { passed: 1, failed: 0, skipped: 0, lines: [] };
  }
  if (test.status === 'skipped') {
    const reason = test.annotations.find(({ type }) => type === 'skip')?.description ?? 'no reason given';
    return { passed: 0, failed: 0, skipped: 1, lines: [`- skipped: ${name}: ${reason}`] };
  }
  const errors = test.results.flatMap((result) => result.errors.map(({ stack, message }) => stack ?? message));
  return { passed: 0, failed: 1, skipped: 0, lines: [failure(name, errors.join('\n'))] };
}

/** No report at all: the runner itself broke. */
function nothing(runner, code) {
  return { passed: 0, failed: 1, skipped: 0, lines: [failure(runner, `It ended with ${code} and wrote no report.`)] };
}

function settled(runner, tally, code) {
  const ran = tally.passed + tally.failed;
  if (ran === 0) {
    return addUp([tally, { passed: 0, failed: 1, skipped: 0, lines: [failure(runner, 'Not one test ran.')] }]);
  }
  if (code !== 0 && tally.failed === 0) {
    const text = `It ended with ${code} though no test failed; what went wrong (an unhandled rejection?) stands above.`;
    return addUp([tally, { passed: 0, failed: 1, skipped: 0, lines: [failure(runner, text)] }]);
  }
  return tally;
}

/** Where nothing may be left out (CI=true) a skipped test is a failed one. @param {Tally} tally @returns {Tally} */
export function strictly(tally) {
  return { ...tally, failed: tally.failed + tally.skipped, skipped: 0 };
}
