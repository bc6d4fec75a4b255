import { METHODS } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceLabel } from '@creel/contract';
import type { Config } from '../../config.ts';
import type { Live } from '../live/service.ts';
import { storedEvent } from '../live/live-events.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { unpackCaptures } from '../../database/packed-captures.ts';
import { decodeHead } from '../../database/request-head.ts';
import { StorageUnavailable } from '../../database/storage-problem.ts';
import type { CaptureLimits, Store } from '../../database/store.ts';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import { createAdmit } from './admission.ts';
import { createCaptureHandler, createPlainAdmit } from './capture-handler.ts';
import type { FirstHandler } from '../../http/dispatch.ts';
import type { CaptureDependencies } from './capture-handler.ts';
import { EndpointCache } from './endpoint-cache.ts';
import type { CachedEndpoint } from './endpoint-cache.ts';
import { flatSourceLabel } from './flat-source-label.ts';
import type { PlainTraffic } from '../../http/plain-connection.ts';
import { CaptureWriter } from './capture-writer.ts';
import type { PendingCapture } from './capture-writer.ts';
import type { OverflowLog } from './overflow-log.ts';
import { OverflowWriter } from './overflow-writer.ts';
import type { OverflowWriterOptions } from './overflow-writer.ts';

/** Maximum bytes of captured bodies in memory, and at least four of the largest. */
const BODY_BUDGET_BYTES = 256 * 1024 * 1024;
/** One user's maximum share of it. */
const MAX_SHARE = 1 / 2;
/** Milliseconds for a look whether storage takes a capture. */
const READY_MS = 3000;
/** Minimum interval between two logged storage failures, because under load there are thousands. */
const FAILURE_LOG_MS = 1000;

export interface CaptureService {
  readonly handle: FirstHandler;
  readonly admitPlain: PlainTraffic['admit'];
  readonly forgetEndpoint: (uid: string) => void;
  readonly waitingCount: () => number;
  readonly bodyBytes: () => number;
  /** The overflow log's figures; `undefined` without NATS. */
  readonly overflow: OverflowFigures | undefined;
  /** Resolves when a capture can be stored now. @throws Error otherwise */
  readonly checkReady: () => Promise<void>;
  /** The overflow log has no batch that this node has to wait for. */
  readonly isDrained: () => boolean;
  /** Resolves when every accepted capture is on disk and answered. */
  readonly drain: () => Promise<void>;
  /** Ends the work on the overflow log. Called after `drain`. */
  readonly close: () => Promise<void>;
}

/** Figures of the overflow log, for metrics. */
export interface OverflowFigures {
  readonly batches: () => number;
  readonly bytes: () => number;
  readonly isFull: () => boolean;
  readonly isLogging: () => boolean;
  readonly drainedBatches: () => number;
}

export interface CaptureServiceOptions {
  readonly config: Config;
  readonly store: Store;
  /** The overflow log and its connection; `undefined` without NATS. */
  readonly overflowLog: OverflowLog | undefined;
  readonly live: () => Live;
  readonly metrics: () => Metrics;
  readonly log: Logger;
  readonly now: () => number;
}

/** Creates the capture path: cache, writer, memory budget, and the actions after a capture is stored. */
export function createCaptureService(options: CaptureServiceOptions): CaptureService {
  const { config, store, now } = options;
  const endpoints = new EndpointCache(store, config.captureRateLimit, now);
  const bytes = Math.max(BODY_BUDGET_BYTES, 4 * config.maxBodyBytes);
  const budget = new MemoryBudget({ bytes, maxShare: MAX_SHARE });
  const onFailure = failureLog(options);
  const limits = { maxUnsaved: config.maxUnsavedPerEndpoint, maxSaved: config.maxSavedPerEndpoint };
  const overflow = createOverflow(options, limits);
  const writer = new CaptureWriter(overflow?.writer ?? store, {
    limits,
    now,
    onFailure,
  });
  const dependencies: CaptureDependencies = {
    admit: createAdmit({
      endpoints,
      budget,
      maxBodyBytes: config.maxBodyBytes,
      now,
      onFailure: (error) => onFailure(error, 1),
    }),
    writer,
    maxBodyBytes: config.maxBodyBytes,
    trustProxy: config.trustProxy,
    countRead: (reader) => options.metrics().countRead(reader),
    countLogged: () => options.metrics().countLogged(),
    onStored: (endpoint, capture, result) => {
      options.metrics().countStored();
      if (options.live().isWatched(endpoint.id))
        options.live().publish(endpoint.id, storedEvent(endpoint.id, capture, result));
      if (endpoint.needsSource) detectSource(options, endpoints, endpoint, capture);
    },
  };
  return {
    handle: createCaptureHandler(dependencies),
    admitPlain: createPlainAdmit(dependencies),
    forgetEndpoint: (uid) => endpoints.forget(uid),
    waitingCount: () => writer.waitingCount,
    bodyBytes: () => budget.used,
    overflow: overflow?.figures,
    async checkReady() {
      if (overflow?.writer.isLogging) return overflow.writer.checkLog();
      try {
        await answeredWithin(READY_MS, store.checkWritable(now()));
      } catch (error) {
        if (overflow === undefined) throw error;
        await overflow.writer.checkLog();
      }
    },
    isDrained: () => overflow?.writer.isDrained ?? true,
    drain: () => writer.drain(),
    close: async () => overflow?.writer.close(),
  };
}

/** The writer of the overflow log, and its figures. `undefined` without NATS. */
function createOverflow(
  options: CaptureServiceOptions,
  limits: CaptureLimits,
): { readonly writer: OverflowWriter; readonly figures: OverflowFigures } | undefined {
  const { store, overflowLog, log } = options;
  if (overflowLog === undefined || store.drain === undefined) return undefined;
  const writer = new OverflowWriter({
    store,
    drainStore: store.drain,
    log: overflowLog,
    limits,
    onDrained: drainedCaptures(options),
    onFailure: (error) => log.error({ err: error }, 'PostgreSQL or the overflow log failed; captures are kept'),
    onMode: (mode) =>
      mode === 'log'
        ? log.warn('captures go to the overflow log, because PostgreSQL does not store them')
        : log.info('captures are stored in PostgreSQL again'),
  });
  writer.start();
  const figures = {
    batches: () => writer.logState?.batches ?? 0,
    bytes: () => writer.logState?.bytes ?? 0,
    isFull: () => overflowLog.isFull,
    isLogging: () => writer.isLogging,
    drainedBatches: () => writer.drainedBatches,
  };
  return { writer, figures };
}

/** Counts the captures of a batch from the overflow log, shows them live, and detects sources. */
function drainedCaptures(options: CaptureServiceOptions): OverflowWriterOptions['onDrained'] {
  return (batch, { indexes, savedIds, receivedAt }) => {
    const sources = new Map<number, SourceLabel>();
    let position = 0;
    for (const { endpointId, method, head, body, receivedAt: sentAt } of unpackCaptures(batch, METHODS)) {
      const at = position++;
      const index = indexes[at] ?? -1;
      if (index < 0) continue;
      options.metrics().countStored();
      const capture = { method, head: Buffer.from(head).toString('latin1'), body: body && Buffer.from(body) };
      const stored = { index, savedId: savedIds[at] || null, receivedAt: receivedAt?.[at] ?? sentAt };
      if (options.live().isWatched(endpointId))
        options.live().publish(endpointId, storedEvent(endpointId, capture, stored));
      if (sources.has(endpointId)) continue;
      const label = flatSourceLabel(decodeHead(head).rawHeaders.flat(), capture.body);
      if (label !== 'Unknown') sources.set(endpointId, label);
    }
    for (const [endpointId, label] of sources)
      options.store
        .setDetectedSource(endpointId, label)
        .catch((error: unknown) => options.log.warn({ err: error }, 'the source of an endpoint could not be noted'));
  };
}

/** @throws StorageUnavailable when it takes longer. */
async function answeredWithin(milliseconds: number, promise: Promise<void>): Promise<void> {
  const late = sleep(milliseconds, undefined, { ref: false }).then(() => {
    throw new StorageUnavailable('The database did not answer in time.');
  });
  await Promise.race([promise, late]);
}

function failureLog({ log, metrics, now }: CaptureServiceOptions): (error: unknown, count: number) => void {
  let loggedAt = 0;
  return (error, count) => {
    metrics().countFailed(count);
    if (now() - loggedAt < FAILURE_LOG_MS) return;
    loggedAt = now();
    log.error({ err: error, count }, 'captures could not be stored; their senders were told 503');
  };
}

/**
 * Sets the first detected label on an endpoint that was created without a source. Runs after the sender was answered.
 */
function detectSource(
  options: CaptureServiceOptions,
  endpoints: EndpointCache,
  endpoint: CachedEndpoint,
  capture: PendingCapture,
): void {
  const label = flatSourceLabel(capture.flatHeaders, capture.body);
  if (label === 'Unknown') return;
  endpoint.needsSource = false;
  options.store.setDetectedSource(endpoint.id, label).then(
    (changed) => {
      endpoints.forget(endpoint.uid);
      if (changed) options.live().publish(endpoint.id, { type: 'changed' });
    },
    (error: unknown) => {
      endpoint.needsSource = true;
      options.log.warn({ err: error }, 'the source of an endpoint could not be noted');
    },
  );
}
