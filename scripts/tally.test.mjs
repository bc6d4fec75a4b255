import { describe, expect, test } from 'vitest';
import { addUp, countJourneys, strictly, tallyCheck, tallyPlaywright, tallyVitest } from './tally.mjs';

const figures = ({ passed, failed, skipped }) => ({ passed, failed, skipped });
const assertion = (status, title = 'adds') => ({
  status,
  title,
  ancestorTitles: ['', 'sum'],
  fullName: `sum ${title}`,
  failureMessages: status === 'failed' ? ['\u001b[31mexpected 3\u001b[39m'] : [],
});
const file = (status, ...assertionResults) => ({ name: '/x/sum.test.ts', status, message: 'broken', assertionResults });
const journey = (status, more = {}) => ({ status, annotations: [], results: [], ...more });
const journeys = (...tests) => ({
  errors: [],
  suites: [{ title: 'a.spec.ts', specs: [], suites: [{ title: 'sign-in', specs: [{ title: 'works', tests }] }] }],
});

describe('checks', () => {
  test('count one each', () => {
    const both = addUp([
      tallyCheck({ name: 'lint', ok: true, output: '' }),
      tallyCheck({ name: 'types', ok: false, output: 'a.ts(1,2): error' }),
    ]);
    expect(figures(both)).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(both.lines.join('\n')).toContain('a.ts(1,2): error');
  });
});

describe('Vitest', () => {
  test.for([
    ['a test that passed', [file('passed', assertion('passed'))], 0, [1, 0, 0]],
    ['a test that failed', [file('failed', assertion('passed'), assertion('failed'))], 1, [1, 1, 0]],
    ['a file that could not be loaded', [file('failed')], 1, [0, 1, 0]],
    ['a file that failed outside its tests', [file('failed', assertion('skipped'))], 1, [0, 1, 1]],
    ['an unhandled rejection beside tests that passed', [file('passed', assertion('passed'))], 1, [1, 1, 0]],
    ['a skipped test', [file('passed', assertion('passed'), assertion('skipped'))], 0, [1, 0, 1]],
    ['a test that is still to be written', [file('passed', assertion('passed'), assertion('todo'))], 0, [1, 0, 1]],
    ['no test at all', [], 0, [0, 1, 0]],
  ])('%s', ([, testResults, code, [passed, failed, skipped]]) => {
    expect(figures(tallyVitest({ testResults }, { code }))).toEqual({ passed, failed, skipped });
  });

  test('says what failed, without the colours', () => {
    const { lines } = tallyVitest({ testResults: [file('failed', assertion('failed'))] }, { code: 1 });
    expect(lines).toEqual(['✗ sum adds\n    expected 3']);
  });

  test('says why a test was skipped', () => {
    const report = { testResults: [file('passed', assertion('passed'), assertion('skipped', 'far'))] };
    const { lines } = tallyVitest(report, { code: 0, skips: [{ name: 'sum > far', reason: 'no network' }] });
    expect(lines).toEqual(['- skipped: sum far (/x/sum.test.ts): no network']);
  });

  test('the tests of a file that could not prepare them share one line', () => {
    const report = { testResults: [file('failed', assertion('skipped', 'a'), assertion('skipped', 'b'))] };
    expect(tallyVitest(report, { code: 1 }).lines).toEqual([
      '✗ /x/sum.test.ts\n    broken',
      '- skipped: 2 tests of /x/sum.test.ts: it failed before they began',
    ]);
  });

  test('a runner that broke before it could report counts as one failure', () => {
    expect(figures(tallyVitest(null, { code: 1 }))).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

describe('Playwright', () => {
  test.for([
    ['passed', journeys(journey('expected')), 0, [1, 0, 0]],
    ['failed', journeys(journey('unexpected'), journey('expected')), 1, [1, 1, 0]],
    ['flaky', journeys(journey('flaky')), 0, [0, 1, 0]],
    ['skipped', journeys(journey('expected'), journey('skipped')), 0, [1, 0, 1]],
    ['an error outside tests', { ...journeys(journey('expected')), errors: [{ message: 'syntax' }] }, 1, [1, 1, 0]],
    ['nothing', { suites: [], errors: [] }, 0, [0, 1, 0]],
  ])('%s', ([, report, code, [passed, failed, skipped]]) => {
    expect(figures(tallyPlaywright(report, { code }))).toEqual({ passed, failed, skipped });
  });

  test('tests that are only listed are counted too', () => {
    expect(countJourneys(journeys(journey('skipped'), journey('skipped')))).toBe(2);
    expect(countJourneys(null)).toBe(0);
  });

  test('names the journey and the reason of a skip', () => {
    const skipped = journey('skipped', { annotations: [{ type: 'skip', description: 'no mail server' }] });
    expect(tallyPlaywright(journeys(journey('expected'), skipped), { code: 0 }).lines).toEqual([
      '- skipped: a.spec.ts > sign-in > works: no mail server',
    ]);
  });
});

test('where nothing may be left out, what was skipped failed', () => {
  expect(figures(strictly({ passed: 3, failed: 1, skipped: 2, lines: [] }))).toEqual({
    passed: 3,
    failed: 3,
    skipped: 0,
  });
});
