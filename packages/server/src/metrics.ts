import type { DeliveryKind } from '@creel/contract';
import type { OverflowFigures } from './features/capture/overflow.ts';
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
  readonly overflow: OverflowFigures | undefined;
}

export interface Metrics {
  readonly registry: Registry;
  /** Adds the gauges. Called once. */
  readonly watch: (sources: GaugeSources) => void;
  /** A capture was stored and acknowledged. */
  readonly countStored: () => void;
  /** A capture is in the overflow log and was acknowledged. */
  readonly countLogged: () => void;
  /** A capture was read by the plain reader or by Node's parser. */
  readonly countRead: (reader: 'plain' | 'parser') => void;
  /** Captures that storage rejected. */
  readonly countFailed: (count: number) => void;
  /** An attempt to send a captured request was stored. */
  readonly countAttempt: (kind: DeliveryKind, outcome: 'delivered' | 'failed') => void;
}

/** The metrics of `/metrics`. They never contain an address, a uid or captured data. */
export function createMetrics(lostLogLines: () => number): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const readCounter = (name: string, help: string, read: () => number): Counter =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  readCounter('creel_log_lines_lost_total', 'Log lines that could not be written.', lostLogLines);
  // A plain number until a scrape: incrementing the library's counter costs as much as packing a capture.
  const counter = (name: string, help: string): { add: (count: number) => void; total: () => number } => {
    let total = 0;
    readCounter(name, help, () => total);
    return {
      add: (count) => {
        total += count;
      },
      total: () => total,
    };
  };
  const stored = counter('creel_captures_stored_total', 'Captures stored and acknowledged.');
  const logged = counter('creel_captures_logged_total', 'Captures acknowledged from the overflow log.');
  const read = { plain: 0, parser: 0 };
  registerReaders(registry, read);
  const failed = counter('creel_captures_failed_total', 'Captures that storage could not take.');
  const attempts = attemptCounter(registers);
  return {
    registry,
    countAttempt: (kind, outcome) => attempts.inc({ kind, outcome }),
    watch: (sources) => registerGauges(registry, sources),
    countStored: () => stored.add(1),
    countLogged: () => logged.add(1),
    countFailed: failed.add,
    countRead: (reader) => void (read[reader] += 1),
  };
}

function registerGauges(registry: Registry, sources: GaugeSources): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number | Promise<number | undefined>): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set((await read()) ?? Number.NaN);
      },
    });
  if (sources.freeDiskBytes !== undefined)
    gauge('creel_data_dir_free_bytes', 'Free bytes on the disk of the data folder.', sources.freeDiskBytes);
  gauge('creel_bus_healthy', '0 while notices of other nodes may be missing.', () => Number(sources.isBusHealthy()));
  if (sources.overflow !== undefined) registerOverflow(registry, gauge, sources.overflow);
  gauge('creel_live_viewers', 'Open live sockets.', sources.viewers);
  gauge('creel_captures_waiting', 'Captures that wait for their batch.', sources.waitingCaptures);
  gauge('creel_body_bytes', 'Bytes of captured bodies in memory.', sources.bodyBytesInMemory);
  gauge('creel_passwords_waiting', 'Passwords that wait to be hashed.', sources.waitingPasswords);
  gauge('creel_deliveries_pending', 'Deliveries that wait for an attempt.', sources.pendingDeliveries);
}

/** Counts attempts to send captured requests. */
function attemptCounter(registers: Registry[]): Counter<'kind' | 'outcome'> {
  return new Counter({
    name: 'creel_delivery_attempts_total',
    help: 'Attempts to send captured requests, by who sent them and by outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
}

function registerReaders(registry: Registry, read: { readonly plain: number; readonly parser: number }): void {
  registry.registerMetric(
    new Counter({
      name: 'creel_captures_read_total',
      help: 'Captures by what read them: the reader of plain requests, or the HTTP parser.',
      labelNames: ['reader'],
      registers: [],
      collect() {
        this.reset();
        this.inc({ reader: 'plain' }, read.plain);
        this.inc({ reader: 'parser' }, read.parser);
      },
    }),
  );
}

function registerOverflow(
  registry: Registry,
  gauge: (name: string, help: string, read: () => number) => void,
  { messages, bytes, isFull, isLogging, drainedBatches }: OverflowFigures,
): void {
  gauge('creel_overflow_log_batches', 'Batches and parts of batches in the overflow log, of all nodes.', messages);
  gauge('creel_overflow_log_bytes', 'Bytes in the overflow log, of all nodes.', bytes);
  gauge('creel_overflow_log_full', '1 while the overflow log is full.', () => Number(isFull()));
  gauge('creel_overflow_log_used', '1 while captures of this node go to the log.', () => Number(isLogging()));
  registry.registerMetric(
    new Counter({
      name: 'creel_overflow_drained_batches_total',
      help: 'Batches that this node moved from the overflow log to PostgreSQL.',
      registers: [],
      collect() {
        this.reset();
        this.inc(drainedBatches());
      },
    }),
  );
}
