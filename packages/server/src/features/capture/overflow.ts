import type { SourceLabel } from '@creel/contract';
import { unpackCaptures } from '../../database/packed-captures.ts';
import { decodeHead } from '../../database/request-head.ts';
import { StorageUnavailable } from '../../database/storage-problem.ts';
import type { CaptureLimits } from '../../database/store.ts';
import { within } from '../../limits/within.ts';
import { flatSourceLabel, storeSource } from './detect-source.ts';
import { OverflowWriter } from './overflow-writer.ts';
import type { OverflowWriterOptions } from './overflow-writer.ts';
import type { CaptureServiceOptions } from './service.ts';

/** The writer of the overflow log; `undefined` without NATS. */
export function createOverflowWriter(
  options: CaptureServiceOptions,
  limits: CaptureLimits,
): OverflowWriter | undefined {
  const { store, overflowLog, log } = options;
  if (overflowLog === undefined || store.drain === undefined) return undefined;
  return new OverflowWriter({
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
}

/** Counts the captures of a batch from the overflow log, shows them live, and detects sources. */
function drainedCaptures(options: CaptureServiceOptions): OverflowWriterOptions['onDrained'] {
  return (batch, { indexes, savedIds, receivedAt }) => {
    const sources = new Map<number, SourceLabel>();
    let position = 0;
    for (const { endpointId, method, head, body, receivedAt: sentAt } of unpackCaptures(batch)) {
      const at = position++;
      const index = indexes[at] ?? -1;
      if (index < 0) continue;
      options.metrics.countStored();
      const capture = { method, head: Buffer.from(head).toString('latin1'), body: body && Buffer.from(body) };
      const stored = { index, savedId: savedIds[at] || null, receivedAt: receivedAt?.[at] ?? sentAt };
      options.live.captured(endpointId, capture, stored);
      if (sources.has(endpointId)) continue;
      const label = flatSourceLabel(decodeHead(head).rawHeaders.flat(), capture.body);
      if (label !== 'Unknown') sources.set(endpointId, label);
    }
    for (const [endpointId, label] of sources) void storeSource(options, endpointId, label);
  };
}

/** Milliseconds for a look whether PostgreSQL stores a capture. */
const READY_MS = 3000;

/** Resolves when a capture can be stored now, in the database or in the log. @throws Error otherwise */
export async function checkReady(
  { store, now }: CaptureServiceOptions,
  writer: OverflowWriter | undefined,
): Promise<void> {
  if (writer?.isLogging) return writer.checkLog();
  try {
    await within(
      READY_MS,
      store.checkWritable(now()),
      () => new StorageUnavailable('The database did not answer in time.'),
    );
  } catch (error) {
    if (writer === undefined) throw error;
    await writer.checkLog();
  }
}
