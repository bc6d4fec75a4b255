import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServer } from '../own-postgres.ts';
import { LIST_LENGTH } from './traffic.ts';
import type { Sender, Viewer } from './traffic.ts';

const PATIENCE_MS = 120_000;

/** What was sent and what was found. */
export interface TrafficReport {
  readonly acknowledged: number;
  readonly stored: number;
  /** Answers to captures by status; 0 for none. */
  readonly answers: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** What is wrong. All lists are empty when nothing is. */
  readonly flaws: {
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
  };
}

interface StoredRow {
  readonly endpoint: number;
  readonly index: number;
  readonly at: number;
  readonly body: string;
}

/** Compares what stopped senders sent, and what viewers show, with the database. Stops the viewers. */
export async function reportTraffic(
  postgres: Pick<OwnServer, 'run'>,
  senders: readonly Sender[],
  viewers: readonly Viewer[],
): Promise<TrafficReport> {
  const rows = await storedRows(postgres);
  const isWrong = ({ endpointId, list }: Viewer): boolean => {
    const indexes = rows.filter(({ endpoint }) => endpoint === endpointId).map(({ index }) => index);
    return JSON.stringify(list) !== JSON.stringify(indexes.slice(-LIST_LENGTH).toReversed());
  };
  await until('the viewers have everything', async () => !viewers.some(isWrong)).catch(() => undefined);
  for (const viewer of viewers) viewer.stop();
  const acknowledged = senders.flatMap((sender) => sender.acknowledged);
  const answers: Record<string, number> = {};
  for (const sender of senders)
    for (const [status, count] of sender.answers) answers[status] = (answers[status] ?? 0) + count;
  const times = new Map<string, number>();
  for (const { body } of rows) times.set(body, (times.get(body) ?? 0) + 1);
  return {
    acknowledged: acknowledged.length,
    stored: rows.length,
    answers,
    slowestMs: Math.round(Math.max(...senders.map((sender) => sender.slowestMs))),
    flaws: {
      lost: acknowledged.filter((body) => !times.has(body)),
      twice: [...times].filter(([, count]) => count > 1).map(([body]) => body),
      misordered: misordered(rows),
      irregular: irregular(rows),
      wrongViewers: viewers.filter(isWrong).map(({ endpointId, list }) => `${endpointId}: ${list.join(' ')}`),
    },
  };
}

async function storedRows(postgres: Pick<OwnServer, 'run'>): Promise<StoredRow[]> {
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

/** Only requests that were sent directly to one node have an order. */
function misordered(rows: readonly StoredRow[]): string[] {
  const last = new Map<string, number>();
  return rows.flatMap(({ body }) => {
    const [name = '', number = ''] = body.split(':');
    if (!name.startsWith('node-')) return [];
    const before = last.get(name) ?? -1;
    last.set(name, Number(number));
    return Number(number) < before ? [body] : [];
  });
}

function irregular(rows: readonly StoredRow[]): string[] {
  return rows.flatMap((row, nth) => {
    const before = rows[nth - 1];
    if (before?.endpoint !== row.endpoint) return row.index === 0 ? [] : [`${row.endpoint} begins with ${row.index}`];
    return row.index === before.index + 1 && row.at >= before.at ? [] : [`${row.endpoint} at ${row.index}`];
  });
}

/** Asks every 100 ms. @throws Error after two minutes */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Waited too long until ${what}.`);
    await sleep(100);
  }
}
