import type { SourceLabel } from '@creel/contract';
import type { Config } from '../../config.ts';
import type { ClientAddressOf } from '../../http/client-address.ts';
import type { Bus } from '../../bus/bus.ts';
import type { Live } from '../live/service.ts';
import type { Deliveries } from '../deliveries/service.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { unpackCaptures } from '../../database/packed-captures.ts';
import { decodeHead } from '../../database/stored-request.ts';
import { databaseTooLate, storedAs } from '../../database/store.ts';
import type { CaptureLimits, Store } from '../../database/store.ts';
import { fittingBytes, MemoryBudget } from '../../limits/memory-budget.ts';
import { throttled } from '../../limits/rate-limits.ts';
import { waitAtMost, withTimeout } from '../../limits/timeouts.ts';
import { createCaptureHandler, createPlainAdmit } from './capture-handler.ts';
import type { CaptureDependencies } from './capture-handler.ts';
import { EndpointCache } from './endpoint-cache.ts';
import type { CachedEndpoint } from './endpoint-cache.ts';
import { CaptureWriter } from './capture-writer.ts';
import type { PendingCapture } from './capture-writer.ts';
import type { OverflowLog } from './overflow-log.ts';
import { SilentOverflowLog } from './overflow-stream.ts';
import { OverflowWriter } from './overflow-writer.ts';
import type { OverflowWriterOptions } from './overflow-writer.ts';
import type { Remote } from '../../database/remote.ts';
import type { endpointQueries } from '../endpoints/queries.ts';
import { flatSourceLabel, storeSource } from '../endpoints/service.ts';

/** Maximum bytes of captured bodies in memory, if they fit, and at least four of the largest. */
const BODY_BUDGET_BYTES = 256 * 1024 * 1024;
/** One user's maximum share of what the others leave. */
const MAX_SHARE = 1 / 2;
/** Minimum interval between two logged storage failures, because under load there are thousands. */
const FAILURE_LOG_MS = 1000;

/** The capture path, for the rest of the server. */
export type CaptureService = ReturnType<typeof createCaptureService>;

export interface CaptureServiceOptions {
  readonly config: Config;
  readonly clientAddressOf: ClientAddressOf;
  readonly store: Store & Pick<Remote<typeof endpointQueries>, 'findEndpoint' | 'setDetectedSource'>;
  /** The overflow log and its connection; `undefined` without NATS. */
  readonly overflowLog: OverflowLog | undefined;
  readonly bus: Bus;
  readonly live: Live;
  readonly metrics: Metrics;
  readonly deliveries: Pick<Deliveries, 'wake'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Creates the capture path: cache, writer, memory budget, and the actions after a capture is stored. */
export function createCaptureService(options: CaptureServiceOptions) {
  const { config, clientAddressOf, store, bus, live, metrics, deliveries, now } = options;
  const { maxBodyBytes } = config;
  const endpoints = new EndpointCache(store, config.captureRateLimit, now, bus);
  live.onEndpointChange((endpointId, isDeleted) =>
    isDeleted ? endpoints.forget(endpointId) : endpoints.invalidate(endpointId),
  );
  bus.onGap(() => endpoints.invalidateAll());
  const bytes = Math.max(fittingBytes(BODY_BUDGET_BYTES), 4 * maxBodyBytes);
  const budget = new MemoryBudget({ bytes, maxShare: MAX_SHARE });
  const onFailure = throttled(FAILURE_LOG_MS, (error: unknown) =>
    options.log.error({ err: error }, 'captures could not be stored; their senders got 503'),
  );
  const limits = { maxUnsaved: config.maxUnsavedPerEndpoint, maxSaved: config.maxSavedPerEndpoint };
  const overflow = createOverflowWriter(options, limits);
  // For PostgreSQL, batches of all senders need less processor time: docs/decisions/0001-acknowledge-after-sync.md.
  const writer = new CaptureWriter(overflow ?? store, { limits, now, onFailure, isSlow: store.shared });
  const dependencies: CaptureDependencies = {
    endpoints,
    budget,
    writer,
    maxBodyBytes,
    clientAddressOf,
    now,
    metrics,
    onStored: (endpoint, capture, result) => {
      metrics.countStored();
      live.captured(endpoint.id, capture, result);
      if (endpoint.hasDestinations) deliveries.wake(endpoint.id, endpoint.userId);
    },
    detectSource: (endpoint, capture) => (endpoint.needsSource ? detectSource(options, endpoint, capture) : undefined),
    onLookupFailure: onFailure,
  };
  return {
    handle: createCaptureHandler(dependencies),
    admitPlain: createPlainAdmit(dependencies),
    writer,
    budget,
    /** `undefined` without NATS. */
    overflow,
    /** Resolves when a capture can be stored now. @throws Error otherwise */
    checkReady: (): Promise<void> => checkReady(options, overflow),
  };
}

/** Maximum milliseconds that a sender waits for the source, which is stored once per endpoint. */
const SOURCE_MS = 500;

/** Stores the source if this capture has a known label. The promise never rejects. */
function detectSource(
  options: CaptureServiceOptions,
  endpoint: CachedEndpoint,
  { flatHeaders, body }: PendingCapture,
): Promise<void> | undefined {
  const label = flatSourceLabel(flatHeaders, body);
  if (label === 'Unknown') return undefined;
  endpoint.needsSource = false;
  const stored = storeSource(options, endpoint.id, label).then((isStored) => {
    endpoint.needsSource = !isStored;
  });
  return waitAtMost(SOURCE_MS, stored);
}

function createOverflowWriter(options: CaptureServiceOptions, limits: CaptureLimits): OverflowWriter | undefined {
  const { store, overflowLog, log } = options;
  if (overflowLog === undefined || store.drain === undefined) return undefined;
  return new OverflowWriter({
    store,
    drainStore: store.drain,
    log: overflowLog,
    limits,
    onDrained: drainedCaptures(options),
    onFailure: (error) =>
      error instanceof SilentOverflowLog
        ? log.warn({ err: error }, 'the overflow log does not answer; the server tries again')
        : log.error({ err: error }, 'PostgreSQL or the overflow log failed; captures are kept'),
    onMode: (mode) =>
      mode === 'log'
        ? log.warn('PostgreSQL does not store captures; the server tries to add them to the overflow log')
        : log.info('captures are stored in PostgreSQL again'),
  });
}

/** Counts the captures of a batch from the overflow log, shows them live, and detects sources. */
function drainedCaptures(options: CaptureServiceOptions): OverflowWriterOptions['onDrained'] {
  return (batch, outcome) => {
    const sources = new Map<number, SourceLabel>();
    let position = 0;
    for (const { endpointId, method, head, body } of unpackCaptures(batch)) {
      const stored = storedAs(outcome, position++);
      if (stored === undefined) continue;
      options.metrics.countStored();
      const capture = { method, head: Buffer.from(head).toString('latin1'), body: body && Buffer.from(body) };
      options.live.captured(endpointId, capture, stored);
      if (sources.has(endpointId)) continue;
      const label = flatSourceLabel(decodeHead(head).rawHeaders.flat(), capture.body);
      if (label !== 'Unknown') sources.set(endpointId, label);
    }
    for (const [endpointId, label] of sources) void storeSource(options, endpointId, label);
  };
}

/** Milliseconds to check whether PostgreSQL stores a capture. */
const READY_MS = 3000;

/** Resolves when a capture can be stored now, in the database or in the log. @throws Error otherwise */
async function checkReady({ store }: CaptureServiceOptions, writer: OverflowWriter | undefined): Promise<void> {
  if (writer?.isLogging) return writer.checkLog();
  try {
    await withTimeout(READY_MS, store.checkWritable(), databaseTooLate);
  } catch (error) {
    if (writer === undefined) throw error;
    await writer.checkLog();
  }
}
