import { setTimeout as sleep } from 'node:timers/promises';
import { metricOf } from '../metric.ts';
import { createTestClient } from '../test-client.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { reportTraffic, until } from './traffic-report.ts';
import type { TrafficReport } from './traffic-report.ts';
import { Sender, Viewer, createEndpoints, useDashboard } from './traffic.ts';

const ENDPOINTS = 4;
/** Senders per endpoint through nginx; one more sends directly to each node. */
const SENDERS = 2;

export interface ChaosOptions {
  /** Kills, alternately of a node and of a nats-server. */
  readonly kills: number;
  readonly betweenMs: number;
  /** PostgreSQL refuses connections this often, for this long. */
  readonly outages: number;
  readonly outageMs: number;
  /** PostgreSQL crashes this often, and recovers. */
  readonly crashes: number;
  /** Milliseconds between two requests of one sender. */
  readonly pauseMs: number;
}

export interface ChaosReport extends TrafficReport {
  /** Calls of the dashboard, by status. */
  readonly dashboard: Readonly<Record<string, number>>;
}

/** Runs senders, viewers and dashboard calls while processes are killed, and compares all with the database. */
export async function runChaos(options: ChaosOptions, log: (line: string) => void): Promise<ChaosReport> {
  const cluster = await startCluster();
  try {
    return await observe(cluster, options, log);
  } catch (error) {
    log(cluster.output());
    throw error;
  } finally {
    await cluster.stop();
  }
}

async function observe(cluster: Cluster, options: ChaosOptions, log: (line: string) => void): Promise<ChaosReport> {
  const { origin, nodeOrigins } = cluster;
  const client = createTestClient(origin);
  await until('the log exists', async () => {
    for (const node of nodeOrigins) await metricOf(node, 'creel_overflow_log_batches');
    return (await fetch(`${origin}/readyz`)).status === 200;
  });
  const endpoints = await createEndpoints(client, 'chaos', ENDPOINTS);
  const newSender = (name: string, url: string): Sender => new Sender(name, () => url, options.pauseMs);
  const senders = endpoints.flatMap(({ uid }, at) => [
    ...Array.from({ length: SENDERS }, (_, nth) => newSender(`nginx-${at}-${nth}`, `${origin}/h/${uid}`)),
    ...nodeOrigins.map((node, nth) => newSender(`node-${at}-${nth}`, `${node}/h/${uid}`)),
  ]);
  const live = origin.replace('http', 'ws');
  const viewers = endpoints.map(({ uid, id }) => new Viewer(id, `${live}/ws?endpoint=${uid}`, client.jar.header()));
  const dashboard = useDashboard(client, (call) => call('/api/endpoints'));
  await disturb(cluster, options, log);
  await Promise.all(senders.map((sender) => sender.stop()));
  const calls = await dashboard.stop();
  log('everything was killed; waiting until the log is drained');
  let left: number[] = [];
  await until('the log is drained', async () => {
    const batches = await Promise.all(nodeOrigins.map((node) => metricOf(node, 'creel_overflow_log_batches')));
    const used = await Promise.all(nodeOrigins.map((node) => metricOf(node, 'creel_overflow_log_used')));
    left = [...batches, ...used];
    return left.every((value) => value === 0);
  }).finally(() => log(`batches in the log, as each node sees it, and nodes that use it: ${left.join(' ')}`));
  return { ...(await reportTraffic(cluster.postgres, senders, viewers)), dashboard: calls };
}

async function disturb(cluster: Cluster, options: ChaosOptions, log: (line: string) => void): Promise<void> {
  const { kills, betweenMs, outages, outageMs, crashes } = options;
  const { link, postgres } = cluster;
  const kill = Array.from({ length: kills }, (_, nth) => async () => {
    const which = Math.floor(nth / 2) % 3;
    log(`kill -9 of ${nth % 2 === 0 ? 'node' : 'nats-server'} ${which}`);
    await (nth % 2 === 0 ? cluster.killNode(which) : cluster.killNats(which));
  });
  const outage = Array.from({ length: outages }, () => async () => {
    log(`PostgreSQL is unreachable for ${outageMs} ms`);
    link.refuse();
    await sleep(outageMs);
    link.mend();
  });
  const crash = Array.from({ length: crashes }, () => async () => {
    log('PostgreSQL crashes');
    await postgres.crash().catch(() => undefined);
  });
  const rest = [...outage, ...crash];
  const every = Math.max(1, Math.floor(kill.length / (rest.length + 1)));
  for (const [nth, next] of kill.entries()) {
    await sleep(betweenMs);
    await next();
    const also = (nth + 1) % every === 0 ? rest.shift() : undefined;
    if (also === undefined) continue;
    await sleep(betweenMs);
    await also();
  }
  for (const left of rest) {
    await sleep(betweenMs);
    await left();
  }
  await sleep(betweenMs);
}
