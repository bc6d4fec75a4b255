import { writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { buildIfStale } from '../scripts/build.ts';
import { exitWrong, readArguments } from '../scripts/read-arguments.ts';
import { browserFigures, browserTable } from './browser.ts';
import { deliveryFigures, deliveryTable } from './deliveries.ts';
import { filterTable } from './filter.ts';
import { chooseLoad } from './load.ts';
import type { Load } from './load.ts';
import { WITHOUT_BUS, nodeScenarios } from './nodes.ts';
import { costTable, dashboardTable, threadTable, throughputTable } from './report.ts';
import type { Row } from './report.ts';
import { captureScenario, dashboardScenario, echoScenario, fill, viewerScenario, CONNECTIONS } from './scenarios.ts';
import type { Sample, Scenario } from './scenarios.ts';
import { MANY_LOGINS, signInTable, signInTimes } from './sign-ins.ts';
import { senderTable } from './senders/senders.ts';
import { Programs, startCreel, startMeasured, startWarmPostgres } from './server-under-test.ts';

// `npm run bench` runs all parts and writes results.md, or the file of `--out`. `npm run bench -- senders` prints only some parts. The
// scenarios take turns for `--rounds` rounds of `--seconds`, so that each round has its own echo to compare with.
const PARTS = [
  'capture',
  'viewer',
  'stored',
  'postgres',
  'nodes',
  'deliveries',
  'sign-ins',
  'senders',
  'filter',
  'browser',
] as const;
type Part = (typeof PARTS)[number];
const LOAD_PARTS: readonly Part[] = ['capture', 'viewer', 'stored', 'postgres', 'nodes'];
const STORED = 100_000;

const USAGE = `Usage: npm run bench -- [--seconds 8] [--rounds 3] [--out FILE] [parts]\nParts: ${PARTS.join(', ')}`;
const { values, positionals } = readArguments(USAGE, {
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const unknown = positionals.filter((name) => !PARTS.some((part) => part === name));
if (unknown.length > 0) exitWrong(`No part has the name ${unknown.join(' or ')}.`, USAGE);
const parts = positionals.length === 0 ? PARTS : PARTS.filter((part) => positionals.includes(part));
const wanted = (part: Part): boolean => parts.includes(part);

async function prepare(load: Load, programs: Programs): Promise<Scenario[]> {
  const creel = async (name: string, environment: Record<string, string> = {}) =>
    programs.keep(await startCreel(name, environment));
  const echo = programs.keep(await startMeasured('bare node:http echo', join(import.meta.dirname, 'echo.ts'), '/', {}));
  const scenarios = [echoScenario(echo)];
  if (wanted('capture')) scenarios.push(captureScenario(await creel('capture, SQLite')));
  if (wanted('viewer')) scenarios.push(viewerScenario('capture, a live viewer attached', await creel('viewer')));
  if (wanted('stored')) {
    const full = await creel(`capture, ${STORED.toLocaleString('en')} stored`, {
      MAX_UNSAVED_PER_ENDPOINT: String(STORED),
    });
    process.stderr.write(`Storing ${STORED} requests.\n`);
    await fill(full, load, STORED);
    scenarios.push(captureScenario(full), dashboardScenario('dashboard in use, 100,000 stored', full));
  }
  if (wanted('postgres')) {
    const postgres = programs.keep(await startWarmPostgres());
    scenarios.push(captureScenario(await creel('capture, PostgreSQL', { DATABASE_URL: postgres.url })));
  }
  if (wanted('nodes')) scenarios.push(...(await nodeScenarios(echo, programs)));
  return scenarios;
}

async function measure(scenarios: readonly Scenario[], load: Load): Promise<Row[]> {
  const samples = new Map<string, Sample[]>(scenarios.map((scenario) => [scenario.name, []]));
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round += 1) {
    // In the other order every second time, so that a drift of the machine favors none.
    for (const scenario of round % 2 === 0 ? scenarios : scenarios.toReversed()) {
      const sample = await scenario.run(load, round < 0 ? Math.min(3, seconds) : seconds);
      process.stderr.write(
        `${round < 0 ? 'warm-up' : `round ${round + 1}`}  ${scenario.name}: ${Math.round(sample.perSecond)}/s, p99 ${sample.p99Ms.toFixed(1)} ms\n`,
      );
      if (round >= 0) samples.get(scenario.name)?.push(sample);
    }
  }
  return scenarios.map((scenario) => ({ name: scenario.name, samples: samples.get(scenario.name) ?? [] }));
}

function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, Node ${process.versions.node}.`;
}

const describeLoad = (load: Load): string =>
  `Load: ${load.tool}, 1 KiB JSON POST, ${CONNECTIONS} connections, on the same machine; ${rounds} rounds of ${seconds} s, medians; the ratio is to the echo of the same round.`;

async function figures(load: Load): Promise<string[]> {
  await using programs = new Programs();
  const rows = await measure(await prepare(load, programs), load);
  return [throughputTable(rows), costTable(WITHOUT_BUS, rows), dashboardTable(rows), threadTable(rows)].filter(Boolean);
}

async function signInFigures(load: Load): Promise<string[]> {
  await using programs = new Programs();
  const creel = programs.keep(await startCreel('sign-ins', MANY_LOGINS));
  return [signInTable(await signInTimes(creel, load, rounds))];
}

async function deliveryPart(): Promise<string[]> {
  const measureOn = async (title: string, environment: Record<string, string>): Promise<string> => {
    await using programs = new Programs();
    const creel = programs.keep(await startCreel(`deliveries, ${title}`, environment));
    return deliveryTable(title, await deliveryFigures(creel, { rounds, seconds }));
  };
  const onSqlite = await measureOn('SQLite', {});
  await using programs = new Programs();
  const { url } = programs.keep(await startWarmPostgres());
  return [onSqlite, await measureOn('PostgreSQL', { DATABASE_URL: url })];
}

await buildIfStale();
const load = await chooseLoad();
const text = [
  '# Figures',
  machine(),
  ...(LOAD_PARTS.some(wanted) ? [describeLoad(load), ...(await figures(load))] : []),
  ...(wanted('deliveries') ? await deliveryPart() : []),
  ...(wanted('sign-ins') ? await signInFigures(load) : []),
  ...(wanted('senders') ? [await senderTable()] : []),
  ...(wanted('filter') ? [await filterTable(load)] : []),
  ...(wanted('browser') ? [browserTable(await browserFigures())] : []),
].join('\n\n');
process.stdout.write(`${text}\n`);
const file = values.out ?? (positionals.length === 0 ? join(import.meta.dirname, 'results.md') : undefined);
if (file !== undefined) await writeFile(file, `${text}\n`);
