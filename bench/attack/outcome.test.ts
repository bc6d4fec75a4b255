import { expect, test } from 'vitest';
import { missedAims, outcomeRow, tableHead, verdictLine } from './outcome.ts';
import type { Outcome } from './outcome.ts';

const seen = { count: 100, failures: 0, failedWith: '', p50Ms: 2, p99Ms: 40, worstMs: 60, worstReusedMs: 50 };
const held: Outcome = {
  name: 'idle',
  what: 'connections that say nothing',
  neighborP99Ms: 100,
  calmP99Ms: 8,
  health: seen,
  neighbor: seen,
  dashboard: seen,
  beforeMb: 200,
  peakMb: 300,
  afterMb: 240,
  bodyBytes: 0,
  largeBodies: [200, 200],
  attackerSaw: '200 × 5',
};

test('an outcome within every aim holds', () => {
  expect(missedAims(held)).toEqual([]);
  expect(verdictLine(held)).toBe('held    idle');
});

test.each<[string, Partial<Outcome>, string]>([
  ['slow health', { health: { ...seen, worstMs: 500 } }, '/healthz took 500 ms, aim 500'],
  ['failed health', { health: { ...seen, failures: 1, failedWith: '0 × 1' } }, '/healthz failed (0 × 1)'],
  ['slow captures', { neighbor: { ...seen, p99Ms: 100 } }, "neighbor's p99 was 100 ms, aim 100"],
  [
    'refused captures',
    { neighbor: { ...seen, failures: 2, failedWith: '503 × 2' } },
    '2 of 100 captures of the neighbor failed (503 × 2)',
  ],
  ['failed dashboard', { dashboard: { ...seen, failures: 3, failedWith: '503 × 3' } }, 'dashboard failed (503 × 3)'],
  ['much memory', { peakMb: 500 }, 'memory reached 500 MB, aim 500'],
  ['kept memory', { afterMb: 241 }, 'memory is 241 MB afterwards, was 200 MB'],
  ['kept body bytes', { bodyBytes: 1 }, 'body budget is 1 afterwards, aim 0'],
  ['no metrics', { bodyBytes: undefined }, 'body budget is unknown afterwards, aim 0'],
  ['refused large bodies', { largeBodies: [200, 503] }, 'bodies of 5 and 25 MB got 200 and 503 afterwards'],
  ['an ended process', { afterMb: undefined }, 'the server process ended'],
])('%s misses an aim', (_what, change, sentence) => {
  const missed = missedAims({ ...held, ...change });
  expect(missed).toEqual([expect.stringContaining(sentence)]);
});

test('a row has a cell for every heading', () => {
  const cells = (line: string): number => line.split('|').length;
  expect(cells(outcomeRow(held))).toBe(cells(tableHead().split('\n')[0] ?? ''));
});
