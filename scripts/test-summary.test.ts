import { describe, expect, test } from 'vitest';
import {
  addSummaries,
  countBrowserTests,
  failSkipped,
  summarizeCheck,
  summarizePlaywright,
  summarizeVitest,
} from './test-summary.ts';
import type { TestSummary } from './test-summary.ts';

const figures = ({ passed, failed, skipped }: TestSummary) => ({ passed, failed, skipped });
const assertion = (status: string, title = 'adds') => ({
  status,
  title,
  ancestorTitles: ['', 'sum'],
  fullName: `sum ${title}`,
  failureMessages: status === 'failed' ? ['\u001b[31mexpected 3\u001b[39m'] : [],
});
const file = (status: string, ...assertionResults: object[]) => ({
  name: '/x/sum.test.ts',
  status,
  message: 'broken',
  assertionResults,
});
const browserTest = (status: string, more = {}) => ({ status, annotations: [], results: [], ...more });
const browserTests = (...tests: object[]) => ({
  errors: [],
  suites: [{ title: 'a.spec.ts', specs: [], suites: [{ title: 'sign-in', specs: [{ title: 'works', tests }] }] }],
});

describe('checks', () => {
  test('count one each', () => {
    const both = addSummaries([
      summarizeCheck({ name: 'lint', ok: true, output: '' }),
      summarizeCheck({ name: 'types', ok: false, output: 'a.ts(1,2): error' }),
    ]);
    expect(figures(both)).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(both.lines.join('\n')).toContain('a.ts(1,2): error');
  });
});

describe('Vitest', () => {
  test.for<[string, object, number, [number, number, number]]>([
    ['a test that passed', [file('passed', assertion('passed'))], 0, [1, 0, 0]],
    ['a test that failed', [file('failed', assertion('passed'), assertion('failed'))], 1, [1, 1, 0]],
    ['a file that could not be loaded', [file('failed')], 1, [0, 1, 0]],
    ['a file that failed outside its tests', [file('failed', assertion('skipped'))], 1, [0, 1, 1]],
    ['an unhandled rejection beside tests that passed', [file('passed', assertion('passed'))], 1, [1, 1, 0]],
    ['a skipped test', [file('passed', assertion('passed'), assertion('skipped'))], 0, [1, 0, 1]],
    ['a test that is not written yet', [file('passed', assertion('passed'), assertion('todo'))], 0, [1, 0, 1]],
    ['no test at all', [], 0, [0, 1, 0]],
  ])('%s', ([, testResults, code, [passed, failed, skipped]]) => {
    expect(figures(summarizeVitest({ testResults }, { code }))).toEqual({ passed, failed, skipped });
  });

  test('prints failures without colors', () => {
    const { lines } = summarizeVitest({ testResults: [file('failed', assertion('failed'))] }, { code: 1 });
    expect(lines).toEqual(['✗ sum adds\n    expected 3']);
  });

  test('prints why a test was skipped', () => {
    const report = { testResults: [file('passed', assertion('passed'), assertion('skipped', 'far'))] };
    const { lines } = summarizeVitest(report, { code: 0, skips: [{ name: 'sum > far', reason: 'no network' }] });
    expect(lines).toEqual(['- skipped: sum far (/x/sum.test.ts): no network']);
  });

  test('tests that did not run because their file failed share one line', () => {
    const report = { testResults: [file('failed', assertion('skipped', 'a'), assertion('skipped', 'b'))] };
    expect(summarizeVitest(report, { code: 1 }).lines).toEqual([
      '✗ /x/sum.test.ts\n    broken',
      '- skipped: 2 tests of /x/sum.test.ts: it failed before they began',
    ]);
  });

  test('a runner that broke before it could report counts as one failure', () => {
    expect(figures(summarizeVitest(null, { code: 1 }))).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

describe('Playwright', () => {
  test.for<[string, object, number, [number, number, number]]>([
    ['passed', browserTests(browserTest('expected')), 0, [1, 0, 0]],
    ['failed', browserTests(browserTest('unexpected'), browserTest('expected')), 1, [1, 1, 0]],
    ['flaky', browserTests(browserTest('flaky')), 0, [0, 1, 0]],
    ['skipped', browserTests(browserTest('expected'), browserTest('skipped')), 0, [1, 0, 1]],
    [
      'an error outside tests',
      { ...browserTests(browserTest('expected')), errors: [{ message: 'syntax' }] },
      1,
      [1, 1, 0],
    ],
    ['nothing', { suites: [], errors: [] }, 0, [0, 1, 0]],
  ])('%s', ([, report, code, [passed, failed, skipped]]) => {
    expect(figures(summarizePlaywright(report, { code }))).toEqual({ passed, failed, skipped });
  });

  test('listed tests are counted', () => {
    expect(countBrowserTests(browserTests(browserTest('skipped'), browserTest('skipped')))).toBe(2);
    expect(countBrowserTests(null)).toBe(0);
  });

  test('names the test and the reason of a skip', () => {
    const skipped = browserTest('skipped', { annotations: [{ type: 'skip', description: 'no mail server' }] });
    expect(summarizePlaywright(browserTests(browserTest('expected'), skipped), { code: 0 }).lines).toEqual([
      '- skipped: a.spec.ts > sign-in > works: no mail server',
    ]);
  });
});

test('skipped tests can count as failed', () => {
  expect(figures(failSkipped({ passed: 3, failed: 1, skipped: 2, lines: [] }))).toEqual({
    passed: 3,
    failed: 3,
    skipped: 0,
  });
});
