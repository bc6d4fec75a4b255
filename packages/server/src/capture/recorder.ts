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
/** A buffer that came back from storage is used again up to this size; what one huge batch needed is not kept. */
const MOST_SPARE_BYTES = 1024 * 1024;

/** How long captures wait for others at most once storage is free, when as many as last time are expected. */
const MOST_HELD_MS = 1;

/**
 * Group commit: while a batch is written and synced the next one is gathered, so that one sync serves many senders. A capture's `done`
 * is called after its batch is on disk, never before.
 */
export class Recorder {
  readonly #store: CaptureStore;
  readonly #options: RecorderOptions;
  readonly #packer = new CapturePacker(METHODS);
  #waiting: Waiting[] = [];
  /** A batch is with storage and not yet on disk. */
  #underWay = false;
  /** Captures that are worth a batch: half of those that were on their way when the last batch was stored. */
  #enough = 1;
  #held: NodeJS.Timeout | undefined;
  #scheduled = false;
  #lastReceivedAt = 0;
  #spare: ArrayBuffer | undefined;
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
    this.#sendOrHold();
    return true;
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    if (this.#waiting.length === 0 && !this.#underWay) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * One batch at a time, and as long as senders wait for each other's answers, two groups of equal size by turns: one is with storage
   * while the other is read and answered. Without the hold, the first few who come back would get a sync of their own and all the
   * others wait for it. After a single sender, who is not held, everything that is read in one turn of the loop shares a batch.
   */
  #sendOrHold(): void {
    if (this.#underWay) return;
    if (this.#enough === 1) this.#sendAfterTurn();
    else if (this.#waiting.length >= this.#enough) this.#send();
    else this.#held ??= setTimeout(() => this.#send(), MOST_HELD_MS);
  }

  #sendAfterTurn(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    clearTimeout(this.#held);
    this.#held = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#underWay = true;
    const packed = this.#packer.take(this.#spare);
    this.#spare = undefined;
    this.#store.writeCaptures(packed, this.#options.limits).then(
      (outcome) => this.#finish(batch, outcome),
      (error: unknown) => {
        this.#options.onFailure(error, batch.length);
        this.#finish(batch, undefined);
      },
    );
  }

  #finish(batch: readonly Waiting[], outcome: CaptureOutcome | undefined): void {
    this.#underWay = false;
    if (outcome?.recycled !== undefined && outcome.recycled.byteLength <= MOST_SPARE_BYTES)
      this.#spare = outcome.recycled;
    this.#enough = Math.ceil((batch.length + this.#waiting.length) / 2);
    // Storage first: it works on the next batch while this one's senders are answered.
    if (this.#waiting.length >= this.#enough) this.#send();
    else if (this.#waiting.length > 0) this.#sendOrHold();
    for (let position = 0; position < batch.length; position += 1) {
      const waiting = batch[position];
      waiting?.done(resultAt(outcome, position, waiting.receivedAt));
    }
    if (this.#waiting.length === 0 && !this.#underWay) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function resultAt(outcome: CaptureOutcome | undefined, position: number, receivedAt: number): CaptureResult {
  if (outcome === undefined) return 'failed';
  const index = outcome.indexes[position] ?? -1;
  if (index < 0) return 'gone';
  return { index, savedId: outcome.savedIds[position] || null, receivedAt };
}
