import { METHODS } from 'node:http';
import { CapturePacker } from '../storage/packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore } from '../storage/store.ts';

/** A capture that waits to be stored. */
export interface PendingCapture {
  readonly endpointId: number;
  readonly method: string;
  /** Names and values by turns, as they came. */
  readonly flatHeaders: readonly string[];
  /** Encoded, see request-head.ts. */
  readonly head: string;
  readonly body: Buffer | null;
}

/** `gone`: the endpoint was deleted meanwhile. `failed`: storage could not take it; nothing was kept. */
export type CaptureResult =
  | { readonly index: number; readonly savedId: number | null; readonly receivedAt: number }
  | 'gone'
  | 'failed';

interface Waiting {
  readonly receivedAt: number;
  readonly done: (result: CaptureResult) => void;
}

export interface RecorderOptions {
  readonly limits: CaptureLimits;
  readonly now: () => number;
  /** Told of a batch that storage refused. */
  readonly onFailure: (error: unknown, count: number) => void;
}

/** What may wait in front of storage; over it a sender is told to come back (contract 3). */
const MOST_WAITING = 8192;
const MOST_WAITING_BYTES = 128 * 1024 * 1024;
/**
 * Batches that are with storage at once: a second one is worth its own sync from this many captures on, and then storage finds its
 * next work without waiting for this thread.
 */
const MOST_UNDER_WAY = 2;
const WORTH_A_BATCH = 20;
/** Buffers kept for coming batches. */
const MOST_RECYCLED = 4;

/**
 * Group commit: while a batch is written and synced the next one is gathered, so that one sync serves many senders. A capture's `done`
 * is called after its batch is on disk, never before.
 */
export class Recorder {
  readonly #store: CaptureStore;
  readonly #options: RecorderOptions;
  readonly #packer = new CapturePacker(METHODS);
  #waiting: Waiting[] = [];
  /** Batches that are not yet on disk. */
  #underWay = 0;
  #scheduled = false;
  #lastReceivedAt = 0;
  readonly #recycled: ArrayBuffer[] = [];
  #idle: (() => void)[] = [];

  constructor(store: CaptureStore, options: RecorderOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Captures that wait for their batch. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Takes a capture into the batch that is being gathered; false when the queue is full, and then `done` is never called. */
  push(capture: PendingCapture, done: (result: CaptureResult) => void): boolean {
    const bytes = capture.head.length + (capture.body?.length ?? 0);
    const full = this.#waiting.length >= MOST_WAITING || this.#packer.byteLength + bytes > MOST_WAITING_BYTES;
    if (full && this.#waiting.length > 0) return false;
    // Times never go back within a process, so that "newest first" by time and by index agree.
    const receivedAt = Math.max(this.#lastReceivedAt, this.#options.now());
    this.#lastReceivedAt = receivedAt;
    this.#packer.add(capture.endpointId, receivedAt, capture.method, capture.head, capture.body);
    this.#waiting.push({ receivedAt, done });
    this.#schedule();
    return true;
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    if (this.#waiting.length === 0 && this.#underWay === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** At the end of this turn of the loop, so that everything that was read in it shares a batch. */
  #schedule(): void {
    if (this.#scheduled || !this.#maySend()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #maySend(): boolean {
    if (this.#underWay === 0) return this.#waiting.length > 0;
    return this.#underWay < MOST_UNDER_WAY && this.#waiting.length >= WORTH_A_BATCH;
  }

  #send(): void {
    if (!this.#maySend()) return;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#underWay += 1;
    const packed = this.#packer.take(this.#recycled.pop());
    this.#store.writeCaptures(packed, this.#options.limits).then(
      (outcome) => this.#finish(batch, outcome),
      (error: unknown) => {
        this.#options.onFailure(error, batch.length);
        this.#finish(batch, undefined);
      },
    );
  }

  #finish(batch: readonly Waiting[], outcome: CaptureOutcome | undefined): void {
    this.#underWay -= 1;
    // Storage first: it works on the next batch while this one's senders are answered.
    this.#send();
    if (outcome?.recycled !== undefined && this.#recycled.length < MOST_RECYCLED) this.#recycled.push(outcome.recycled);
    for (let position = 0; position < batch.length; position += 1) {
      const waiting = batch[position];
      waiting?.done(resultAt(outcome, position, waiting.receivedAt));
    }
    if (this.#waiting.length === 0 && this.#underWay === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function resultAt(outcome: CaptureOutcome | undefined, position: number, receivedAt: number): CaptureResult {
  if (outcome === undefined) return 'failed';
  const index = outcome.indexes[position] ?? -1;
  if (index < 0) return 'gone';
  return { index, savedId: outcome.savedIds[position] || null, receivedAt };
}
