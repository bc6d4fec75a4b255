import type { Observation } from './witness.ts';

/** Measurements of the server during and after one attack. */
export interface Outcome {
  readonly name: string;
  readonly what: string;
  /** Maximum p99 of the neighbor, in milliseconds. */
  readonly neighborP99Ms: number;
  /** The neighbor's p99 in the 2 s before the attack, in milliseconds. */
  readonly calmP99Ms: number;
  readonly health: Observation;
  readonly neighbor: Observation;
  /** The neighbor's own list of endpoints. */
  readonly dashboard: Observation;
  /** Resident memory before the attack, its peak, and 10 s after the attack. `undefined` if the process has exited. */
  readonly beforeMb: number | undefined;
  readonly peakMb: number;
  readonly afterMb: number | undefined;
  /** `creel_body_bytes` 10 s after the attack. `undefined` without a response. */
  readonly bodyBytes: number | undefined;
  /** Statuses of honest bodies of 5 and 25 MB after that. */
  readonly largeBodies: readonly number[];
  readonly attackerSaw: string;
}

const MAX_HEALTH_MS = 500;
const MAX_MB = 500;
const MAX_GROWTH = 1.2;

const ms = (value: number): string => Math.round(value).toLocaleString('en');

/** Returns a sentence for each exceeded limit. */
export function missedAims(outcome: Outcome): string[] {
  const { health, neighbor, dashboard, beforeMb, peakMb, afterMb, bodyBytes, largeBodies } = outcome;
  const missed: string[] = [];
  const aim = (holds: boolean, sentence: string): void => {
    if (!holds) missed.push(sentence);
  };
  aim(afterMb !== undefined, 'the server process ended');
  aim(health.failures === 0, `/healthz failed (${health.failedWith})`);
  aim(health.worstMs < MAX_HEALTH_MS, `/healthz took ${ms(health.worstMs)} ms, aim ${MAX_HEALTH_MS}`);
  aim(
    neighbor.failures === 0,
    `${neighbor.failures} of ${neighbor.count} captures of the neighbor failed (${neighbor.failedWith})`,
  );
  aim(
    neighbor.p99Ms < outcome.neighborP99Ms,
    `neighbor's p99 was ${ms(neighbor.p99Ms)} ms, aim ${outcome.neighborP99Ms}`,
  );
  aim(dashboard.failures === 0, `the neighbor's dashboard failed (${dashboard.failedWith})`);
  aim(peakMb < MAX_MB, `memory reached ${ms(peakMb)} MB, aim ${MAX_MB}`);
  aim(bodyBytes === 0, `body budget is ${bodyBytes === undefined ? 'unknown' : ms(bodyBytes)} afterwards, aim 0`);
  if (afterMb !== undefined && beforeMb !== undefined)
    aim(afterMb <= beforeMb * MAX_GROWTH, `memory is ${ms(afterMb)} MB afterwards, was ${ms(beforeMb)} MB`);
  aim(
    largeBodies.every((status) => status === 200),
    `bodies of 5 and 25 MB got ${largeBodies.join(' and ')} afterwards`,
  );
  return missed;
}

const HEADINGS = [
  'attack',
  'calm p99 ms',
  '`/healthz` worst ms, on kept connections',
  'neighbor p50 / p99 / worst ms',
  'not 200',
  'dashboard worst ms',
  'RSS MB before / peak / 10 s after',
  'body bytes after',
  '5 and 25 MB after',
  'attacker saw',
];

/** One line of a Markdown table. */
export function outcomeRow(outcome: Outcome): string {
  const { health, neighbor, dashboard } = outcome;
  const cells = [
    `**${outcome.name}**: ${outcome.what}`,
    ms(outcome.calmP99Ms),
    `${ms(health.worstMs)}, ${ms(health.worstReusedMs)}`,
    `${ms(neighbor.p50Ms)} / ${ms(neighbor.p99Ms)} / ${ms(neighbor.worstMs)}`,
    neighbor.failures === 0
      ? `0 of ${neighbor.count}`
      : `${neighbor.failures} of ${neighbor.count} (${neighbor.failedWith})`,
    ms(dashboard.worstMs),
    `${outcome.beforeMb ?? '?'} / ${outcome.peakMb} / ${outcome.afterMb ?? 'ended'}`,
    outcome.bodyBytes === undefined ? 'no answer' : ms(outcome.bodyBytes),
    outcome.largeBodies.join(', '),
    outcome.attackerSaw,
  ];
  return `| ${cells.join(' | ')} |`;
}

export function tableHead(): string {
  return `| ${HEADINGS.join(' | ')} |\n| ${HEADINGS.map((_, at) => (at === 0 ? '---' : '---:')).join(' | ')} |`;
}

/** For example `held  calm`, or `MISSED  idle: /healthz took 900 ms, aim 500`. */
export function verdictLine(outcome: Outcome): string {
  const missed = missedAims(outcome);
  return missed.length === 0 ? `held    ${outcome.name}` : `MISSED  ${outcome.name}: ${missed.join('; ')}`;
}
