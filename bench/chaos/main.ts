import { runChaos } from '../../packages/server/test/chaos/run-chaos.ts';
import { readArguments } from '../../scripts/read-arguments.ts';

/**
 * `npm run chaos`: 5 minutes of senders, viewers and dashboard calls while processes are killed. `-- --kills 40` runs
 * longer. Exits with 1 if something acknowledged is missing, doubled, out of order, or not shown.
 */
const { values } = readArguments('Usage: npm run chaos -- [--kills 14]', {
  options: { kills: { type: 'string', default: '14' } },
});
const options = {
  kills: Number(values.kills),
  betweenMs: 10_000,
  outages: 2,
  outageMs: 60_000,
  crashes: 1,
  pauseMs: 20,
};
const report = await runChaos(options, (line) => process.stdout.write(`${new Date().toISOString()} ${line}\n`));
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
if (Object.values(report.flaws).some((list) => list.length > 0)) process.exitCode = 1;
