import autocannon from 'autocannon';
import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly total: number;
  /** Responses other than 2xx, and broken connections. */
  readonly failures: number;
}

export interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** Longest random pause before each request. By default no pause. */
  readonly pauseMs?: number;
}

export interface Load {
  readonly tool: 'wrk' | 'autocannon';
  readonly send: (url: string, options: LoadOptions) => Promise<LoadResult>;
}

/** 1 KiB of JSON, like a usual webhook. */
export const BODY = JSON.stringify({ id: 'evt_1', type: 'bench', data: 'x'.repeat(1024 - 43) });

/** Prefers `wrk`, which needs less processor time than a load generator in JavaScript. */
export async function chooseLoad(): Promise<Load> {
  const hasWrk = await run('wrk', ['--version']).then(
    () => true,
    (error: unknown) => error instanceof Error && 'code' in error && error.code !== 'ENOENT',
  );
  return hasWrk ? wrk() : { tool: 'autocannon', send: sendWithAutocannon };
}

async function wrk(): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-wrk-'));
  return {
    tool: 'wrk',
    async send(url, { connections, seconds, pauseMs = 0 }) {
      const script = join(folder, `post-${pauseMs}.lua`);
      const pause = pauseMs === 0 ? '' : `function delay() return math.random(0, ${pauseMs}) end\n`;
      await writeFile(
        script,
        `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${JSON.stringify(BODY)}\n${pause}`,
      );
      const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url];
      const { stdout } = await run('wrk', args);
      return parseWrk(stdout);
    },
  };
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

function parseWrk(text: string): LoadResult {
  const percentile = (percent: string): number => {
    const [, value = '0', unit = 'ms'] = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m)`, 'm').exec(text) ?? [];
    return Number(value) * (UNITS[unit] ?? 1);
  };
  const number = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
  const socketErrors =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? [];
  return {
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p50Ms: percentile('50'),
    p99Ms: percentile('99'),
    total: number(/(\d+) requests in/),
    failures: number(/Non-2xx or 3xx responses: (\d+)/) + socketErrors.reduce((sum, count) => sum + Number(count), 0),
  };
}

async function sendWithAutocannon(
  url: string,
  { connections, seconds, pauseMs = 0 }: LoadOptions,
): Promise<LoadResult> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    method: 'POST',
    body: BODY,
    ...(pauseMs > 0 && { overallRate: Math.round((connections * 1000) / (pauseMs / 2)) }),
    headers: { 'content-type': 'application/json' },
  });
  return {
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    total: result.requests.total,
    failures: result.non2xx + result.errors + result.timeouts,
  };
}
