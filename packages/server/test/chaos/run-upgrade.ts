import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServer } from '../own-postgres.ts';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';
import { createTestClient } from '../test-client.ts';
import { reportTraffic } from './traffic-report.ts';
import type { TrafficReport } from './traffic-report.ts';
import { Sender, Viewer, createEndpoints, useDashboard } from './traffic.ts';
import type { DashboardCall } from './traffic.ts';

const ENDPOINTS = 2;
/** Senders per endpoint and node. */
const SENDERS = 2;
/** Milliseconds between two requests of one sender. Without it, the senders take the processor from the nodes that start. */
const SENDER_PAUSE_MS = 100;

export interface UpgradeOptions {
  /** The server's program of the version that runs first. */
  readonly from: string;
  /** The program of the next version. */
  readonly to: string;
  /** Milliseconds of traffic before each change of a node. */
  readonly stepMs: number;
  /** An empty PostgreSQL database. */
  readonly database: Pick<OwnServer, 'url' | 'run'>;
}

export interface UpgradeReport extends TrafficReport {
  /** Calls of the dashboard by status; 0 for none. */
  readonly dashboard: Readonly<Record<string, number>>;
  /** The errors that the nodes logged. */
  readonly errors: readonly string[];
  /** The error of a node that is too old for the schema. */
  readonly refusal: string;
}

/**
 * Upgrades two nodes on one PostgreSQL one after the other, and one of them back, during senders, viewers and dashboard
 * calls. Then compares all with the database. @throws Error when a node does not start, or does not stop gracefully
 */
export async function runUpgrade(options: UpgradeOptions, log: (line: string) => void): Promise<UpgradeReport> {
  /** Also those that were replaced. */
  const nodes: ServerProcess[] = [];
  try {
    const report = await observe(options, nodes, log);
    const lines = nodes.flatMap((node) => node.output().split('\n'));
    return { ...report, errors: lines.filter((line) => line.includes('"level":50')) };
  } catch (error) {
    log(nodes.map((node) => node.output().slice(-3000)).join('\n'));
    throw error;
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

async function observe(
  { from, to, stepMs, database }: UpgradeOptions,
  nodes: ServerProcess[],
  log: (line: string) => void,
): Promise<Omit<UpgradeReport, 'errors'>> {
  // CREEL_SERVER_PROGRAM is for next-version.ts.
  const settings = { DATABASE_URL: database.url, MAX_UNSAVED_PER_ENDPOINT: '1000000', CREEL_SERVER_PROGRAM: from };
  const start = async (program: string, port?: number): Promise<ServerProcess> => {
    const node = await startServerProcess(settings, { program, ...(port && { port }) });
    nodes.push(node);
    return node;
  };
  const running = [await start(from), await start(from)];
  const origins = running.map(({ origin }) => origin);
  const client = createTestClient(origins);
  const endpoints = await createEndpoints(client, 'upgrade', ENDPOINTS);
  const everywhere = endpoints.flatMap((endpoint) => origins.map((origin) => ({ ...endpoint, origin })));
  const viewers = everywhere.map(
    ({ id, uid, origin }) => new Viewer(id, `${origin.replace('http', 'ws')}/ws?endpoint=${uid}`, client.jar.header()),
  );
  const senders = everywhere.flatMap(({ uid, origin }, at) =>
    Array.from(
      { length: SENDERS },
      (_, nth) => new Sender(`node-${at}-${nth}`, () => `${origin}/h/${uid}`, SENDER_PAUSE_MS),
    ),
  );
  const paths = endpoints.map(({ uid }) => `/api/endpoints/${uid}`);
  const dashboard = useDashboard(client, (call, nth) => readAndWrite(call, paths[nth % paths.length] ?? '', nth));
  const change = async (nth: number, program: string): Promise<void> => {
    await sleep(stepMs);
    const node = running[nth];
    const code = await node?.kill('SIGTERM');
    if (code !== 0) throw new Error(`Node ${nth} ended with ${code}.`);
    running[nth] = await start(program, node?.port);
    log(`node ${nth} runs ${program}`);
  };
  await change(0, to);
  await change(1, to);
  // The way back, in case the next version has a defect.
  await change(0, from);
  await sleep(stepMs);
  await Promise.all(senders.map((sender) => sender.stop()));
  const calls = await dashboard.stop();
  const report = await reportTraffic(database, senders, viewers);
  await database.run('insert into schema_version (version, applied_at, compatible_since) values (999, 0, 999)');
  const refusal = await startServerProcess(settings, { program: from }).then(
    async (node) => {
      await node.stop();
      return 'It started.';
    },
    (error: unknown) => String(error),
  );
  return { ...report, dashboard: calls, refusal };
}

/** Reads and writes what a user of the dashboard does, alternating between the nodes. */
async function readAndWrite(call: DashboardCall, path: string, nth: number): Promise<void> {
  await call(path);
  await call(path, 'PATCH', { name: `round ${nth}` });
  await call(`${path}/save-request`, 'POST', { index: nth });
  await call(`${path}/temp-requests?limit=10`);
  await call('/api/search?q=node&limit=10');
  const made = await call(`${path}/destinations`, 'POST', { url: 'http://127.0.0.1:9/', query: 'body:nothing' });
  if (typeof made === 'object' && made !== null && 'id' in made)
    await call(`${path}/destinations/${String(made.id)}`, 'DELETE');
}
