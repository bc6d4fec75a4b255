import { dashboardTimes } from './dashboard.ts';
import type { DashboardTimes } from './dashboard.ts';
import type { Load, LoadResult } from './load.ts';
import { residentMb, threadMicros } from './server-under-test.ts';
import type { Measured, MeasuredCreel } from './server-under-test.ts';
import { withViewer } from './with-viewer.ts';

export const CONNECTIONS = 64;
/** Connections of the load that goes on while somebody looks at the dashboard. */
const SIDE_CONNECTIONS = 8;

export interface Sample extends LoadResult {
  readonly residentMb: number | undefined;
  /** Microseconds per request, by thread. */
  readonly threads: ReadonlyMap<string, number>;
  readonly dashboard?: DashboardTimes;
  readonly viewerFrames?: number;
}

/** One thing that is measured, again and again, in turn with the others. */
export interface Scenario {
  readonly name: string;
  readonly run: (load: Load, seconds: number) => Promise<Sample>;
}

async function measured(program: Measured, send: () => Promise<LoadResult>): Promise<Sample> {
  const before = await threadMicros(program.pid);
  const result = await send();
  const after = await threadMicros(program.pid);
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

/** The dashboard is used while captures go on. */
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

/** Fills an endpoint, so that what follows is measured with that much stored. */
export async function fill(creel: MeasuredCreel, load: Load, count: number): Promise<void> {
  const stored = async (): Promise<number> =>
    (await creel.client.call('getEndpoint', { params: { uid: creel.uid } })).stats.total;
  while ((await stored()) < count) await load.send(creel.captureUrl, { connections: CONNECTIONS, seconds: 1 });
}
