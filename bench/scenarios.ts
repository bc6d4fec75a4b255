import { fork } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import type { Load, LoadResult } from './load.ts';
import { median } from './quantile.ts';
import { processorMicros, residentMb } from './server-under-test.ts';
import type { Measured, MeasuredCreel } from './server-under-test.ts';

export const CONNECTIONS = 64;
/** Connections that capture while the dashboard is in use. */
const SIDE_CONNECTIONS = 8;
const DASHBOARD_ROUNDS = 5;

interface DashboardTimes {
  readonly listMs: number;
  readonly searchMs: number;
  readonly detailMs: number;
}

export interface Sample extends LoadResult {
  readonly residentMb: number | undefined;
  /** Microseconds of processor time per request, by thread or process. */
  readonly threads: ReadonlyMap<string, number>;
  readonly dashboard?: DashboardTimes;
  readonly viewerFrames?: number;
}

/** One measurement. The scenarios of a run take turns. */
export interface Scenario {
  readonly name: string;
  readonly run: (load: Load, seconds: number) => Promise<Sample>;
}

async function measured(program: Measured, send: () => Promise<LoadResult>): Promise<Sample> {
  const before = await processorMicros(program);
  const result = await send();
  const after = await processorMicros(program);
  const threads = new Map(
    [...after].map(([name, micros]) => [name, (micros - (before.get(name) ?? 0)) / Math.max(1, result.total)]),
  );
  return { ...result, threads, residentMb: await residentMb(program.pid) };
}

const urlOf = (program: Measured): string => `http://127.0.0.1:${program.port}/`;

export function echoScenario(echo: Measured): Scenario {
  return {
    name: echo.name,
    run: (load, seconds) => measured(echo, () => load.send(urlOf(echo), { connections: CONNECTIONS, seconds })),
  };
}

export function captureScenario(creel: MeasuredCreel): Scenario {
  return {
    name: creel.name,
    run: (load, seconds) => measured(creel, () => load.send(creel.captureUrl, { connections: CONNECTIONS, seconds })),
  };
}

export function viewerScenario(name: string, creel: MeasuredCreel): Scenario {
  return {
    name,
    async run(load, seconds) {
      const viewed = await withViewer(creel, () => captureScenario(creel).run(load, seconds));
      return { ...viewed.result, viewerFrames: viewed.frames };
    },
  };
}

const openSchema = z.object({ open: z.literal(true) });
const countSchema = z.object({ frames: z.number(), bytes: z.number() });

/** Runs `work` while a live view of the endpoint is open in another process. Also returns the number of its messages. */
async function withViewer<T>(creel: MeasuredCreel, work: () => Promise<T>): Promise<{ result: T; frames: number }> {
  const url = `ws://127.0.0.1:${creel.port}/ws?endpoint=${creel.uid}`;
  const child = fork(join(import.meta.dirname, 'viewer.ts'), [url, creel.cookie]);
  const next = (): Promise<unknown> => new Promise((resolve) => child.once('message', resolve));
  openSchema.parse(await next());
  try {
    const result = await work();
    const counted = next();
    child.send('count');
    return { result, frames: countSchema.parse(await counted).frames };
  } finally {
    child.disconnect();
  }
}

/** Uses the dashboard while captures continue. */
export function dashboardScenario(name: string, creel: MeasuredCreel): Scenario {
  return {
    name,
    async run(load, seconds) {
      const captures = measured(creel, () => load.send(creel.captureUrl, { connections: SIDE_CONNECTIONS, seconds }));
      const dashboard = await dashboardTimes(creel);
      return { ...(await captures), dashboard };
    },
  };
}

/** Medians of the first page, a search without results (which reads everything), and the statistics of the endpoint. */
async function dashboardTimes({ client, uid }: MeasuredCreel): Promise<DashboardTimes> {
  return {
    listMs: await medianMs(() => client.call('listUnsaved', { params: { uid } })),
    searchMs: await medianMs(() => client.call('search', { query: { q: 'no such text anywhere' } })),
    detailMs: await medianMs(() => client.call('getEndpoint', { params: { uid } })),
  };
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < DASHBOARD_ROUNDS; round += 1) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  return median(taken);
}

/** Captures until the endpoint has at least `count` requests. */
export async function fill(creel: MeasuredCreel, load: Load, count: number): Promise<void> {
  const stored = async (): Promise<number> =>
    (await creel.client.call('getEndpoint', { params: { uid: creel.uid } })).stats.total;
  while ((await stored()) < count) await load.send(creel.captureUrl, { connections: CONNECTIONS, seconds: 1 });
}
