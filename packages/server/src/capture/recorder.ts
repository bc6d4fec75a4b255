import { METHODS } from 'node:http';
import { CapturePacker } from '../storage/packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore } from '../storage/store.ts';

/** A capture that waits to be stored. */
export interface PendingCapture {
  readonly endpointId: number;
  readonly method: string;
  /** Encoded, see request-head.ts. */
  readonly head: string;
  readonly body: Buffer | null;
}

/** `gone`: the endpoint was deleted meanwhile. `failed`: storage could not take it; nothing was kept. */
export type CaptureResult = { readonly index: number; readonly savedId: number | null; readonly receivedAt: number } | 'gone' | 'failed';

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
/** Batches that are under way at once: one is written while the next is gathered. */
const MOST_UNDER_WAY = 1;

/**
 * Group commit: while a batch is being written and synced the next one is gathered, so that one sync serves many senders. A capture's
 * `done` is called after its batch is on disk, never before.
 */
export class Recorder {
  readonly #store: CaptureStore;
  readonly #options: RecorderOptions;
  readonly #packer = new CapturePacker(METHODS);
  #waiting: Waiting[] = [];
  #underWay = 0;
  #scheduled = false;
  #lastReceivedAt = 0;
  #recycled: ArrayBuffer | undefined;
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
    if (this.#scheduled || this.#underWay >= MOST_UNDER_WAY) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#underWay += 1;
    const packed = this.#packer.take(this.#recycled);
    this.#recycled = undefined;
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
    this.#recycled = outcome?.recycled;
    // The writer first: it works on the next batch while this one's senders are answered.
    this.#send();
    for (const [position, waiting] of batch.entries()) waiting.done(resultAt(outcome, position, waiting.receivedAt));
    if (this.#waiting.length === 0 && this.#underWay === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function resultAt(outcome: CaptureOutcome | undefined, position: number, receivedAt: number): CaptureResult {
  if (outcome === undefined) return 'failed';
  const index = outcome.indexes[position] ?? -1;
  if (index < 0) return 'gone';
  return { index, savedId: outcome.savedIds[position] || null, receivedAt };
}
