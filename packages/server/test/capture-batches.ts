import { vi } from 'vitest';
import { CaptureWriter } from '../src/features/capture/capture-writer.ts';
import type { CaptureResult } from '../src/features/capture/capture-writer.ts';
import { unpackCaptures } from '../src/database/packed-captures.ts';
import type { CaptureOutcome, CaptureStore } from '../src/database/store.ts';

export const LIMITS = { maxUnsaved: 5, maxSaved: 7 };

interface Batch {
  readonly bodies: readonly string[];
  readonly receivedAt: readonly number[];
  /** Lets storage confirm the batch. */
  readonly land: (change?: (outcome: CaptureOutcome) => void) => Promise<void>;
  readonly fail: () => Promise<void>;
}

export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A writer over a store that confirms batches on command. `checkpoint` by default as on PostgreSQL: there is none. */
export function newWriter(
  now: () => number = () => 1000,
  elapsed: () => number = () => 0,
  checkpoint?: CaptureStore['checkpoint'],
  isSlow = false,
) {
  const batches: Batch[] = [];
  const failures: unknown[] = [];
  let nextIndex = 0;
  const writeCaptures = vi.fn<CaptureStore['writeCaptures']>((packed) => {
    const captures = [...unpackCaptures(packed)];
    return new Promise<CaptureOutcome>((resolve, reject) => {
      batches.push({
        bodies: captures.map(({ body }) => Buffer.from(body ?? []).toString()),
        receivedAt: captures.map(({ receivedAt }) => receivedAt),
        async land(change = () => undefined) {
          const indexes = Float64Array.from(captures, () => nextIndex++);
          const receivedAt = Float64Array.from(captures, (capture) => capture.receivedAt);
          const savedIds = new Float64Array(captures.length);
          const outcome = { indexes, savedIds, receivedAt, recycled: packed.bytes.buffer };
          change(outcome);
          resolve(outcome);
          await settled();
        },
        async fail() {
          reject(new Error('disk I/O error'));
          await settled();
        },
      });
    });
  });
  const writer = new CaptureWriter(
    { writeCaptures, checkpoint },
    { limits: LIMITS, now, elapsed, isSlow, onFailure: (error) => failures.push(error) },
  );
  const results: [body: string, result: CaptureResult][] = [];
  const push = (body: string | Buffer, endpointId = 1, userId = 7): boolean => {
    const bytes = Buffer.from(body);
    return writer.push(
      { endpointId, userId, method: 'POST', flatHeaders: [], head: 'text 127.0.0.1\n/', body: bytes },
      (result) => results.push([bytes.length > 20 ? `${bytes.length} bytes` : bytes.toString(), result]),
    );
  };
  const batch = (at: number): Batch => {
    const found = batches[at];
    if (found === undefined) throw new Error(`There is no batch ${at}`);
    return found;
  };
  return { writer, push, results, batches, batch, failures, writeCaptures };
}

export const stored = (index: number) => ({ index, savedId: null, receivedAt: 1000 });
