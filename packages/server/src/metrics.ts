import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

export interface MetricSources {
  readonly viewers: () => number;
  readonly waitingCaptures: () => number;
  readonly bodyBytesInMemory: () => number;
  readonly waitingPasswords: () => number;
}

export interface Metrics {
  readonly registry: Registry;
  /** A capture was stored and acknowledged. */
  readonly countStored: () => void;
  /** Captures that storage could not take. */
  readonly countFailed: (count: number) => void;
}

/** What `/metrics` shows. Never an address, a uid or anything captured. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('creel_live_viewers', 'Open live sockets.', sources.viewers);
  gauge('creel_captures_waiting', 'Captures that wait for their batch.', sources.waitingCaptures);
  gauge('creel_body_bytes', 'Bytes of captured bodies in memory.', sources.bodyBytesInMemory);
  gauge('creel_passwords_waiting', 'Passwords that wait to be hashed.', sources.waitingPasswords);
  // Plain numbers until somebody asks: a counter of the library costs a capture as much as packing it.
  const counter = (name: string, help: string): { add: (count: number) => void; total: () => number } => {
    let total = 0;
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset();
          this.inc(total);
        },
      }),
    );
    return {
      add: (count) => {
        total += count;
      },
      total: () => total,
    };
  };
  const stored = counter('creel_captures_stored_total', 'Captures stored and acknowledged.');
  const failed = counter('creel_captures_failed_total', 'Captures that storage could not take.');
  return { registry, countStored: () => stored.add(1), countFailed: failed.add };
}
