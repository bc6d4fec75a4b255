// `npm run attack -- tenant idle` runs each attack whose name contains one of the words, without words all attacks. Each has its own
// server. Prints the measurements of a witness and a neighbor. With `--postgres`, the servers store in PostgreSQL. Exits with 1 if a limit
// is exceeded.
import { cpus } from 'node:os';
import process from 'node:process';
import { buildIfStale } from '../../scripts/build.ts';
import { exitWrong, readArguments } from '../../scripts/read-arguments.ts';
import { startWarmPostgres } from '../server-under-test.ts';
import { ATTACKS } from './attacks/all.ts';
import { missedAims, outcomeRow, tableHead, verdictLine } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { runAttack } from './run-attack.ts';

const USAGE = `Usage: npm run attack -- [--postgres] [words in names of attacks]\nAttacks: ${ATTACKS.map(({ name }) => name).join(', ')}`;
const { values, positionals: words } = readArguments(USAGE, {
  options: { postgres: { type: 'boolean' } },
  allowPositionals: true,
});
const chosen = ATTACKS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0) exitWrong('No attack has that name.', USAGE);
await buildIfStale();
process.stdout.write(
  `Server, attacker and witness share this machine's ${cpus().length} cores. The attacker runs at a lower priority.\n\n${tableHead()}\n`,
);
const postgres = values.postgres === true ? await startWarmPostgres() : undefined;
const outcomes: Outcome[] = [];
for (const attack of chosen) {
  const outcome = await runAttack(attack, postgres && { DATABASE_URL: postgres.url });
  outcomes.push(outcome);
  process.stdout.write(`${outcomeRow(outcome)}\n`);
}
await postgres?.stop();
process.stdout.write(`\n${outcomes.map(verdictLine).join('\n')}\n`);
process.exitCode = outcomes.every((outcome) => missedAims(outcome).length === 0) ? 0 : 1;
