import { expect, test } from 'vitest';
import { runChaos } from '../chaos/run-chaos.ts';

test('three nodes, one kill of each kind, PostgreSQL away and crashed: every acknowledged capture is stored once, in order, and shown', async () => {
  const lines: string[] = [];
  const report = await runChaos({ kills: 2, betweenMs: 1500, outages: 1, outageMs: 5000, crashes: 1 }, (line) =>
    lines.push(line),
  );
  process.stdout.write(`${lines.join('\n')}\n${JSON.stringify(report)}\n`);
  const { lost, twice, misordered, irregular, wrongViewers } = report;
  expect({ lost, twice, misordered, irregular, wrongViewers }).toEqual({
    lost: [],
    twice: [],
    misordered: [],
    irregular: [],
    wrongViewers: [],
  });
  expect(report.acknowledged).toBeGreaterThan(100);
}, 300_000);
