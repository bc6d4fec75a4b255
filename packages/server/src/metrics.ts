import type { DeliveryKind } from '@creel/contract';
import type { Bus } from './bus/bus.ts';
import type { Passwords } from './features/accounts/passwords.ts';
import type { CaptureWriter } from './features/capture/capture-writer.ts';
import type { OverflowWriter } from './features/capture/overflow-writer.ts';
import type { Live } from './features/live/service.ts';
import type { MemoryBudget } from './limits/memory-budget.ts';
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

/** What is read for each scrape. */
interface GaugeSources {
  /** `undefined` when the database is not in the data folder. */
  readonly freeDiskBytes: (() => number) | undefined;
  readonly store: { countPendingDeliveries(): Promise<number> };
  readonly live: Pick<Live, 'viewerCount'>;
  readonly passwords: Pick<Passwords, 'waitingCount'>;
  readonly bus: Pick<Bus, 'isHealthy' | 'nodeCount'>;
  readonly capture: {
    readonly writer: Pick<CaptureWriter, 'waitingCount'>;
    readonly budget: Pick<MemoryBudget, 'used'>;
    /** `undefined` without an overflow log. */
    readonly overflow: Pick<OverflowWriter, 'logState' | 'isFull' | 'isLogging' | 'drainedBatches'> | undefined;
  };
}

/** The metrics of `/metrics`. They never contain an address, a uid or captured data. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics. `lostLogLines` returns the number of log lines that could not be written. */
export function createMetrics(lostLogLines: () => number) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Plain numbers until a scrape: incrementing the library's counter costs as much as packing a capture.
  const counts = { stored: 0, logged: 0, failed: 0 };
  const read = { plain: 0, parser: 0 };
  const counter = metricReader(registry, Counter);
  counter('creel_log_lines_lost_total', 'Log lines that could not be written.', lostLogLines);
  counter('creel_captures_stored_total', 'Captures stored and acknowledged.', () => counts.stored);
  counter('creel_captures_logged_total', 'Captures acknowledged from the overflow log.', () => counts.logged);
  counter(
    'creel_captures_failed_total',
    'Captures answered with 503: not stored in time, or too much waited.',
    () => counts.failed,
  );
  const readHelp = 'Captures by what read them: the reader of plain requests, or the HTTP parser.';
  counter('creel_captures_read_total', readHelp, () => read, 'reader');
  const attempts = new Counter({
    name: 'creel_delivery_attempts_total',
    help: 'Attempts to send captured requests, by who sent them and by outcome.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  return {
    registry,
    /** Adds the gauges. Called once. */
    watch: (sources: GaugeSources): void => registerGauges(registry, sources),
    /** A capture was stored and acknowledged. */
    countStored: (): void => void (counts.stored += 1),
    /** A capture is in the overflow log and was acknowledged. */
    countLogged: (): void => void (counts.logged += 1),
    /** A capture was answered with 503. */
    countFailed: (): void => void (counts.failed += 1),
    /** A capture was read by the plain reader or by Node's parser. */
    countRead: (reader: 'plain' | 'parser'): void => void (read[reader] += 1),
    /** An attempt to send a captured request has ended. */
    countAttempt: (kind: DeliveryKind, outcome: 'delivered' | 'failed'): void => attempts.inc({ kind, outcome }),
  };
}

type Values = number | Readonly<Record<string, number>>;

/** Registers metrics that are read for each scrape: one number, or one for each value of a label. */
function metricReader(registry: Registry, Metric: typeof Counter | typeof Gauge) {
  return (name: string, help: string, read: () => Values | Promise<Values>, ...labelNames: string[]): void => {
    const metric: Counter | Gauge = new Metric({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const values = await read();
        metric.reset();
        if (typeof values === 'number') metric.inc(values);
        else for (const [value, count] of Object.entries(values)) metric.inc({ [labelNames[0] ?? '']: value }, count);
      },
    });
  };
}

function registerGauges(
  registry: Registry,
  { freeDiskBytes, store, live, passwords, bus, capture }: GaugeSources,
): void {
  const gauge = metricReader(registry, Gauge);
  if (freeDiskBytes !== undefined)
    gauge('creel_data_dir_free_bytes', 'Free bytes on the disk of the data folder.', freeDiskBytes);
  gauge('creel_bus_healthy', '0 while notices of other nodes may be missing.', () => Number(bus.isHealthy));
  gauge('creel_bus_nodes', 'Nodes that this node knows, including itself.', () => bus.nodeCount);
  gauge('creel_live_viewers', 'Open live sockets.', () => live.viewerCount);
  gauge('creel_captures_waiting', 'Captures that wait for their batch.', () => capture.writer.waitingCount);
  gauge('creel_body_bytes', 'Bytes of captured bodies in memory.', () => capture.budget.used);
  gauge('creel_passwords_waiting', 'Passwords that wait to be hashed.', () => passwords.waitingCount);
  // Unknown while storage is unavailable.
  const pendingDeliveries = (): Promise<number> => store.countPendingDeliveries().catch(() => Number.NaN);
  gauge('creel_deliveries_pending', 'Deliveries that wait for an attempt.', pendingDeliveries);
  const { overflow } = capture;
  if (overflow === undefined) return;
  const logHelp = 'Batches and parts of batches in the overflow log, of all nodes.';
  gauge('creel_overflow_log_batches', logHelp, () => overflow.logState?.messages ?? 0);
  gauge('creel_overflow_log_bytes', 'Bytes in the overflow log, of all nodes.', () => overflow.logState?.bytes ?? 0);
  gauge('creel_overflow_log_full', '1 while the overflow log is full.', () => Number(overflow.isFull));
  gauge('creel_overflow_log_used', '1 while captures of this node go to the log.', () => Number(overflow.isLogging));
  const drainedHelp = 'Batches that this node moved from the overflow log to PostgreSQL.';
  metricReader(registry, Counter)('creel_overflow_drained_batches_total', drainedHelp, () => overflow.drainedBatches);
}
