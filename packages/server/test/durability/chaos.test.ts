import { expect, test } from 'vitest';
import { runChaos } from '../chaos/run-chaos.ts';

test('three nodes, one kill of each kind, PostgreSQL unreachable and crashed: every acknowledged capture is stored once, in order, and shown', async () => {
  const lines: string[] = [];
  const options = { kills: 2, betweenMs: 1500, outages: 1, outageMs: 5000, crashes: 1, pauseMs: 100 };
  const report = await runChaos(options, (line) => lines.push(line)).catch((error: unknown) => {
    throw new Error(lines.join('\n'), { cause: error });
  });
  process.stdout.write(`${lines.join('\n')}\n${JSON.stringify(report)}\n`);
  expect(report.flaws).toEqual({ lost: [], twice: [], misordered: [], irregular: [], wrongViewers: [] });
  expect(report.acknowledged).toBeGreaterThan(100);
}, 300_000);
