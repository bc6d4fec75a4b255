import { writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../scripts/postgres.ts';
import { buildIfStale } from '../scripts/build.ts';
import { browserFigures, browserTable } from './browser.ts';
import { chooseLoad } from './load.ts';
import type { Load } from './load.ts';
import { dashboardTable, threadTable, throughputTable } from './report.ts';
import type { Row } from './report.ts';
import { captureScenario, dashboardScenario, echoScenario, fill, viewerScenario, CONNECTIONS } from './scenarios.ts';
import type { Sample, Scenario } from './scenarios.ts';
import { MANY_VISITORS, signInTable, signInTimes } from './sign-ins.ts';
import { startCreel, startProgram } from './server-under-test.ts';

/** `npm run bench -- --seconds 8 --rounds 3 --only capture,browser`: every scenario in turn, `rounds` times, so that each round has its own echo. */
const seconds = Number(flag('seconds') ?? 8);
const rounds = Number(flag('rounds') ?? 3);
const only = flag('only');
const STORED = 100_000;

function flag(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

const wanted = (part: string): boolean => only === undefined || only.split(',').includes(part);

async function prepare(load: Load): Promise<{ scenarios: Scenario[]; stop: () => Promise<void> }> {
  const stops: (() => Promise<void>)[] = [];
  const keep = <T extends { stop: () => Promise<void> }>(program: T): T => {
    stops.unshift(program.stop);
    return program;
  };
  const creel = async (name: string, environment: Record<string, string> = {}) =>
    keep(await startCreel(name, environment));
  const scenarios = [
    echoScenario(keep(await startProgram('bare node:http echo', join(import.meta.dirname, 'echo.ts'), '/', {}))),
  ];
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
    const postgres = keep(await startPostgres());
    scenarios.push(captureScenario(await creel('capture, PostgreSQL', { DATABASE_URL: postgres.url })));
  }
  return {
    scenarios,
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

async function measure(scenarios: readonly Scenario[], load: Load): Promise<Row[]> {
  const samples = new Map<string, Sample[]>(scenarios.map((scenario) => [scenario.name, []]));
  // The first pass warms everything up and is not counted.
  for (let round = -1; round < rounds; round += 1) {
    for (const scenario of scenarios) {
      const sample = await scenario.run(load, round < 0 ? Math.min(3, seconds) : seconds);
      process.stderr.write(
        `${round < 0 ? 'warm-up' : `round ${round + 1}`}  ${scenario.name}: ${Math.round(sample.perSecond)}/s, p99 ${sample.p99Ms.toFixed(1)} ms\n`,
      );
      if (round >= 0) samples.get(scenario.name)?.push(sample);
    }
  }
  return scenarios.map((scenario) => ({ name: scenario.name, samples: samples.get(scenario.name) ?? [] }));
}

function describeRun(load: Load): string {
  const [cpu] = cpus();
  const machine = `${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, Node ${process.versions.node}`;
  return `${machine}. Load: ${load.tool}, 1 KiB JSON POST, ${CONNECTIONS} connections, on the same machine; ${rounds} rounds of ${seconds} s, medians; the ratio is to the echo of the same round.`;
}

/** Scenarios by turns, then what is measured by itself. */
async function figures(load: Load): Promise<string[]> {
  const { scenarios, stop } = await prepare(load);
  try {
    const rows = await measure(scenarios, load);
    return [throughputTable(rows), dashboardTable(rows), threadTable(rows)];
  } finally {
    await stop();
  }
}

async function signInFigures(load: Load): Promise<string[]> {
  const creel = await startCreel('sign-ins', MANY_VISITORS);
  try {
    return [signInTable(await signInTimes(creel, load, rounds))];
  } finally {
    await creel.stop();
  }
}

await buildIfStale();
const load = await chooseLoad();
const parts = [
  '# Figures',
  describeRun(load),
  ...(await figures(load)),
  ...(wanted('sign-ins') ? await signInFigures(load) : []),
  ...(wanted('browser') ? [browserTable(await browserFigures())] : []),
];
const text = parts.join('\n\n');
process.stdout.write(`${text}\n`);
await writeFile(flag('out') ?? join(import.meta.dirname, 'results.md'), `${text}\n`);
