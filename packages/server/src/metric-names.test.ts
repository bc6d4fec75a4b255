import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

const zero = (): number => 0;

/** All names that `/metrics` can have. */
async function metricNames(): Promise<Set<string>> {
  const { registry, watch } = createMetrics(zero);
  watch({
    freeDiskBytes: zero,
    store: { countPendingDeliveries: () => Promise.resolve(0) },
    live: { viewerCount: 0 },
    passwords: { waitingCount: 0 },
    bus: { isHealthy: true, nodeCount: 1 },
    capture: {
      writer: { waitingCount: 0 },
      budget: { used: 0 },
      overflow: { logState: undefined, isFull: false, isLogging: false, drainedBatches: 0 },
    },
  });
  return new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
}

const NAME = /\b(?:creel|nodejs|process)_\w+/g;

test.each(['grafana-dashboard.json', 'operations.md'])(
  'every metric that docs/%s names exists, and it names all of ours',
  async (file) => {
    const text = await readFile(new URL(`../../../docs/${file}`, import.meta.url), 'utf8');
    const named = new Set(text.match(NAME));
    const names = await metricNames();
    expect([...named].filter((name) => !names.has(name))).toEqual([]);
    expect([...names].filter((name) => name.startsWith('creel_') && !named.has(name))).toEqual([]);
  },
);
