import { setTimeout as sleep } from 'node:timers/promises';
import { metricOf } from '../metric.ts';
import { createTestClient } from '../test-client.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { Sender, Viewer } from './traffic.ts';

const ENDPOINTS = 4;
/** Senders per endpoint through nginx; one more sends directly to each node. */
const SENDERS = 2;
const DASHBOARD_PAUSE_MS = 100;
const PATIENCE_MS = 120_000;
const LIST_LENGTH = 100;

export interface ChaosOptions {
  /** Kills of a node or a nats-server, by turns. */
  readonly kills: number;
  readonly betweenMs: number;
  /** PostgreSQL refuses connections this often, for this long. */
  readonly outages: number;
  readonly outageMs: number;
  /** PostgreSQL crashes this often, and recovers. */
  readonly crashes: number;
}

/** What was sent and what was found. The lists are empty when nothing is wrong. */
export interface ChaosReport {
  readonly acknowledged: number;
  readonly stored: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly dashboard: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** Acknowledged and not stored. */
  readonly lost: readonly string[];
  /** Stored more than once. */
  readonly twice: readonly string[];
  /** Stored after a later request of the same sender to the same node. */
  readonly misordered: readonly string[];
  /** Endpoints whose indexes have a gap, or whose times decrease. */
  readonly irregular: readonly string[];
  /** Viewers whose list differs from the database. */
  readonly wrongViewers: readonly string[];
}

interface StoredRow {
  readonly endpoint: number;
  readonly index: number;
  readonly at: number;
  readonly body: string;
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
  await client.call('register', {
    body: { username: 'chaos', email: 'chaos@example.com', password: 'a good password' },
  });
  const endpoints = [];
  for (let nth = 0; nth < ENDPOINTS; nth += 1) endpoints.push(await client.call('createEndpoint', { body: {} }));
  const senders = endpoints.flatMap(({ uid }, at) => [
    ...Array.from({ length: SENDERS }, (_, nth) => new Sender(`nginx-${at}-${nth}`, () => `${origin}/h/${uid}`)),
    ...nodeOrigins.map((node, nth) => new Sender(`node-${at}-${nth}`, () => `${node}/h/${uid}`)),
  ]);
  const live = origin.replace('http', 'ws');
  const viewers = endpoints.map(({ uid, id }) => ({
    id,
    viewer: new Viewer(`${live}/ws?endpoint=${uid}`, client.jar.header()),
  }));
  const dashboard = callDashboard(client);
  await disturb(cluster, options, log);
  await Promise.all(senders.map((sender) => sender.stop()));
  const calls = await dashboard.stop();
  log('everything was killed; waiting until the log is drained');
  await until('the log is drained', async () => {
    const batches = await Promise.all(nodeOrigins.map((node) => metricOf(node, 'creel_overflow_log_batches')));
    const used = await Promise.all(nodeOrigins.map((node) => metricOf(node, 'creel_overflow_log_used')));
    return [...batches, ...used].every((value) => value === 0);
  });
  const rows = await storedRows(cluster);
  const newest = (id: number): string =>
    JSON.stringify(
      rows
        .filter(({ endpoint }) => endpoint === id)
        .map(({ index }) => index)
        .slice(-LIST_LENGTH)
        .toReversed(),
    );
  const isWrong = ({ id, viewer }: (typeof viewers)[number]): boolean => JSON.stringify(viewer.list) !== newest(id);
  await until('the viewers have everything', async () => !viewers.some(isWrong)).catch(() => undefined);
  for (const { viewer } of viewers) viewer.stop();
  return {
    ...compare(senders, rows),
    dashboard: calls,
    wrongViewers: viewers.filter(isWrong).map(({ id, viewer }) => `${id}: ${viewer.list.join(' ')}`),
  };
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
    log(`PostgreSQL is away for ${outageMs} ms`);
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

function callDashboard(client: ReturnType<typeof createTestClient>) {
  const statuses: Record<string, number> = {};
  let isEnded = false;
  const running = (async () => {
    while (!isEnded) {
      const status = await client.send('/api/endpoints').then(
        async (answer) => {
          await answer.text();
          return answer.status;
        },
        () => 0,
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      await sleep(DASHBOARD_PAUSE_MS);
    }
  })();
  return {
    async stop(): Promise<Readonly<Record<string, number>>> {
      isEnded = true;
      await running;
      return statuses;
    },
  };
}

async function storedRows({ postgres }: Cluster): Promise<StoredRow[]> {
  const rows = await postgres.run(
    `select (key >> 32)::int as endpoint, (key & 4294967295)::int as index, received_at::float8 as at,
      convert_from(body, 'UTF8') as body from captured_requests order by key`,
  );
  return rows.map((row) => ({
    endpoint: Number(row['endpoint']),
    index: Number(row['index']),
    at: Number(row['at']),
    body: String(row['body']),
  }));
}

function compare(
  senders: readonly Sender[],
  rows: readonly StoredRow[],
): Omit<ChaosReport, 'dashboard' | 'wrongViewers'> {
  const times = new Map<string, number>();
  for (const { body } of rows) times.set(body, (times.get(body) ?? 0) + 1);
  const acknowledged = senders.flatMap((sender) => sender.acknowledged);
  const last = new Map<string, number>();
  const misordered = rows.flatMap(({ body }) => {
    const [name = '', number = ''] = body.split(':');
    if (!name.startsWith('node-')) return [];
    const before = last.get(name) ?? -1;
    last.set(name, Number(number));
    return Number(number) < before ? [body] : [];
  });
  const irregular = rows.flatMap((row, nth) => {
    const before = rows[nth - 1];
    if (before?.endpoint !== row.endpoint) return row.index === 0 ? [] : [`${row.endpoint} begins with ${row.index}`];
    return row.index === before.index + 1 && row.at >= before.at ? [] : [`${row.endpoint} at ${row.index}`];
  });
  const answers: Record<string, number> = {};
  for (const sender of senders)
    for (const [status, count] of sender.answers) answers[status] = (answers[status] ?? 0) + count;
  return {
    acknowledged: acknowledged.length,
    stored: rows.length,
    answers,
    slowestMs: Math.round(Math.max(...senders.map((sender) => sender.slowestMs))),
    lost: acknowledged.filter((body) => !times.has(body)),
    twice: [...times].filter(([, count]) => count > 1).map(([body]) => body),
    misordered,
    irregular,
  };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Waited too long until ${what}.`);
    await sleep(100);
  }
}
