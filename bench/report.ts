import { median, quantile } from './quantile.ts';
import type { Sample } from './scenarios.ts';

export interface Row {
  readonly name: string;
  readonly samples: readonly Sample[];
}

const whole = (value: number): string => (Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '');
const oneDecimal = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : '');

/** Compares each round with the first row in the same round, so that changes of the machine's speed cancel out. */
function ratioTo(base: Row, row: Row): number {
  return median(row.samples.map((sample, round) => sample.perSecond / (base.samples[round]?.perSecond ?? Number.NaN)));
}

function line(base: Row, row: Row): string {
  const pick = (value: (sample: Sample) => number): number => median(row.samples.map(value));
  const cells = [
    row.name,
    whole(pick((sample) => sample.perSecond)),
    row === base ? '1' : ratioTo(base, row).toFixed(2),
    oneDecimal(pick((sample) => sample.p50Ms)),
    oneDecimal(pick((sample) => sample.p99Ms)),
    whole(Math.max(...row.samples.map((sample) => sample.residentMb ?? Number.NaN))),
    whole(row.samples.reduce((sum, sample) => sum + sample.failures, 0)),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** A Markdown table that compares all rows with the first. */
export function throughputTable(rows: readonly Row[]): string {
  const [base] = rows;
  if (base === undefined) return '';
  const head =
    '| | requests/s | of the echo | p50 ms | p99 ms | resident MB, most | failures |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |';
  return [head, ...rows.map((row) => line(base, row))].join('\n');
}

const percent = (ratio: number): string => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)}%`;

/** The median, and between which values the middle half is. */
function middleOf(ratios: readonly number[]): string {
  const [low, middle, high] = [1 / 4, 1 / 2, 3 / 4].map((share) => percent(quantile(ratios, share)));
  return `${middle} (${low} to ${high})`;
}

const processorTime = ({ threads }: Sample): number => [...threads.values()].reduce((sum, micros) => sum + micros, 0);

/** A Markdown table that compares the rows after one with it, round by round. Empty without that row. */
export function costTable(baseName: string, rows: readonly Row[]): string {
  const at = rows.findIndex(({ name }) => name === baseName);
  const base = rows[at];
  if (base === undefined) return '';
  const compared = (row: Row, value: (sample: Sample) => number): string =>
    middleOf(
      row.samples.map((sample, round) => {
        const baseSample = base.samples[round];
        return baseSample === undefined ? Number.NaN : value(sample) / value(baseSample);
      }),
    );
  const lines = rows
    .slice(at + 1)
    .map((row) => `| ${row.name} | ${compared(row, (sample) => sample.perSecond)} | ${compared(row, processorTime)} |`);
  const head = `| compared with “${baseName}” in the same round: median (middle half) | requests/s | processor time per request |\n| --- | ---: | ---: |`;
  return [head, ...lines].join('\n');
}

/** A Markdown table of the processor time of each thread and process, in microseconds per request. */
export function threadTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const names = new Set(row.samples.flatMap((sample) => [...sample.threads.keys()]));
    const parts = [...names].map((name) => ({
      name,
      micros: median(row.samples.map((sample) => sample.threads.get(name) ?? 0)),
    }));
    const shown = parts.filter((part) => part.micros >= 0.5).toSorted((a, b) => b.micros - a.micros);
    return `| ${row.name} | ${shown.map((part) => `${part.name} ${part.micros.toFixed(1)}`).join(', ')} |`;
  });
  return ['| | µs of processor time per request, by thread or process |', '| --- | --- |', ...lines].join('\n');
}

export function dashboardTable(rows: readonly Row[]): string {
  const lines = rows.flatMap((row) => {
    const times = row.samples.map((sample) => sample.dashboard).filter((dashboard) => dashboard !== undefined);
    if (times.length === 0) return [];
    const cells = [
      times.map((time) => time.listMs),
      times.map((time) => time.searchMs),
      times.map((time) => time.detailMs),
      row.samples.map((sample) => sample.p99Ms),
    ];
    return [`| ${row.name} | ${cells.map((values) => oneDecimal(median(values))).join(' | ')} |`];
  });
  if (lines.length === 0) return '';
  return [
    '| | first page ms | search ms | endpoint ms | p99 of captures meanwhile ms |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...lines,
  ].join('\n');
}
