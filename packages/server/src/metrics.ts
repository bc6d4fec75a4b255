import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';

export interface MetricSources {
  readonly viewers: () => number;
  readonly waitingCaptures: () => number;
  readonly bodyBytesInMemory: () => number;
}

export interface Metrics {
  readonly registry: Registry;
  /** Captures that were stored and acknowledged. */
  readonly stored: Counter;
  /** Captures that storage could not take. */
  readonly failed: Counter;
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
  return {
    registry,
    stored: new Counter({ name: 'creel_captures_stored_total', help: 'Captures stored and acknowledged.', registers }),
    failed: new Counter({
      name: 'creel_captures_failed_total',
      help: 'Captures that storage could not take.',
      registers,
    }),
  };
}
