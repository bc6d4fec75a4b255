import type { DeliveryKind } from '@creel/contract';
import type { OverflowWriter } from './features/capture/overflow-writer.ts';
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

/** Numbers that are read for each scrape. */
interface GaugeSources {
  /** `undefined` when the database is not in the data folder. */
  readonly freeDiskBytes: (() => number) | undefined;
  readonly viewers: () => number;
  readonly waitingCaptures: () => number;
  readonly bodyBytesInMemory: () => number;
  readonly waitingPasswords: () => number;
  /** Deliveries that wait for an attempt; `undefined` while storage is unavailable. */
  readonly pendingDeliveries: () => Promise<number | undefined>;
  readonly isBusHealthy: () => boolean;
  /** `undefined` without an overflow log. */
  readonly overflow: Pick<OverflowWriter, 'logState' | 'isFull' | 'isLogging' | 'drainedBatches'> | undefined;
}

/** The metrics of `/metrics`. They never contain an address, a uid or captured data. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(lostLogLines: () => number) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Plain numbers until a scrape: incrementing the library's counter costs as much as packing a capture.
  const counts = { stored: 0, logged: 0, failed: 0 };
  const read = { plain: 0, parser: 0 };
  readCounter(registry, 'creel_log_lines_lost_total', 'Log lines that could not be written.', lostLogLines);
  readCounter(registry, 'creel_captures_stored_total', 'Captures stored and acknowledged.', () => counts.stored);
  readCounter(
    registry,
    'creel_captures_logged_total',
    'Captures acknowledged from the overflow log.',
    () => counts.logged,
  );
  readCounter(registry, 'creel_captures_failed_total', 'Captures that storage could not take.', () => counts.failed);
  const readHelp = 'Captures by what read them: the reader of plain requests, or the HTTP parser.';
  readCounter(registry, 'creel_captures_read_total', readHelp, () => read, 'reader');
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
    /** Captures that storage rejected. */
    countFailed: (count: number): void => void (counts.failed += count),
    /** A capture was read by the plain reader or by Node's parser. */
    countRead: (reader: 'plain' | 'parser'): void => void (read[reader] += 1),
    /** An attempt to send a captured request was stored. */
    countAttempt: (kind: DeliveryKind, outcome: 'delivered' | 'failed'): void => attempts.inc({ kind, outcome }),
  };
}

/** A counter that is read for each scrape: one number, or one for each value of a label. */
function readCounter(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Readonly<Record<string, number>>,
  label = '',
): void {
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: label === '' ? [] : [label],
      registers: [],
      collect() {
        this.reset();
        const counts = read();
        if (typeof counts === 'number') this.inc(counts);
        else for (const [value, count] of Object.entries(counts)) this.inc({ [label]: value }, count);
      },
    }),
  );
}

function registerGauges(registry: Registry, sources: GaugeSources): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number | undefined>): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          this.set((await read()) ?? Number.NaN);
        },
      }),
    );
  };
  if (sources.freeDiskBytes !== undefined)
    gauge('creel_data_dir_free_bytes', 'Free bytes on the disk of the data folder.', sources.freeDiskBytes);
  gauge('creel_bus_healthy', '0 while notices of other nodes may be missing.', () => Number(sources.isBusHealthy()));
  gauge('creel_live_viewers', 'Open live sockets.', sources.viewers);
  gauge('creel_captures_waiting', 'Captures that wait for their batch.', sources.waitingCaptures);
  gauge('creel_body_bytes', 'Bytes of captured bodies in memory.', sources.bodyBytesInMemory);
  gauge('creel_passwords_waiting', 'Passwords that wait to be hashed.', sources.waitingPasswords);
  gauge('creel_deliveries_pending', 'Deliveries that wait for an attempt.', sources.pendingDeliveries);
  const { overflow } = sources;
  if (overflow === undefined) return;
  gauge(
    'creel_overflow_log_batches',
    'Batches and parts of batches in the overflow log, of all nodes.',
    () => overflow.logState?.messages ?? 0,
  );
  gauge('creel_overflow_log_bytes', 'Bytes in the overflow log, of all nodes.', () => overflow.logState?.bytes ?? 0);
  gauge('creel_overflow_log_full', '1 while the overflow log is full.', () => Number(overflow.isFull));
  gauge('creel_overflow_log_used', '1 while captures of this node go to the log.', () => Number(overflow.isLogging));
  readCounter(
    registry,
    'creel_overflow_drained_batches_total',
    'Batches that this node moved from the overflow log to PostgreSQL.',
    () => overflow.drainedBatches,
  );
}
