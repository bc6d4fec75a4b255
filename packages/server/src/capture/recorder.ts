import { METHODS } from 'node:http';
import { CapturePacker } from '../storage/packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore } from '../storage/store.ts';
import { storedBytes } from '../storage/stored-bytes.ts';

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
  /** Milliseconds of a clock that is never set. */
  readonly elapsed?: () => number;
  /** Told of a batch that storage refused. */
  readonly onFailure: (error: unknown, count: number) => void;
}

/** What may wait in front of storage; over it a sender is told to come back (contract 3). */
const MOST_WAITING = 8192;
const MOST_WAITING_BYTES = 128 * 1024 * 1024;
/** A buffer that came back from storage is used again up to this size; what one huge batch needed is not kept. */
const MOST_SPARE_BYTES = 1024 * 1024;

/**
 * How long captures wait at most for others who are expected, once storage is free: a part of what a batch takes, within these bounds,
 * so that after storage stood still nobody waits for those who have gone meanwhile.
 */
const MOST_HELD_OF_BATCH = 1 / 4;
const LEAST_HELD_MS = 1;
const MOST_HELD_MS = 10;
/**
 * Above so many milliseconds per sender a batch is worth waiting for all of them, below it for half. With half of them in each of two
 * groups, one is read while the other is with storage; that saves what it takes to read and write the half, some 30 µs each, and costs
 * a second sync. A slow disk makes the sync the larger part.
 */
const SLOW_MS_PER_SENDER = 0.032;
/** The weight of the last batch in how long a batch takes. */
const NEWEST = 1 / 8;

/**
 * Group commit: while a batch is written and synced the next one is gathered, so that one sync serves many senders. A capture's `done`
 * is called after its batch is on disk, never before.
 */
export class Recorder {
  readonly #store: CaptureStore;
  readonly #options: RecorderOptions;
  readonly #elapsed: () => number;
  readonly #packer = new CapturePacker(METHODS);
  #waiting: Waiting[] = [];
  /** A batch is with storage and not yet on disk. */
  #underWay = false;
  /** Captures that are worth a batch: half of those that were on their way when the last batch was stored, or all. */
  #enough = 1;
  /** How long a batch takes, and when the last one was sent. */
  #batchMs = 0;
  #sentAt = 0;
  #held: NodeJS.Timeout | undefined;
  #scheduled = false;
  #lastReceivedAt = 0;
  #spare: ArrayBuffer | undefined;
  #idle: (() => void)[] = [];

  constructor(store: CaptureStore, options: RecorderOptions) {
    this.#store = store;
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /** Captures that wait for their batch. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Takes a capture into the batch that is being gathered; false when the queue is full, and then `done` is never called. */
  push(capture: PendingCapture, done: (result: CaptureResult) => void): boolean {
    const full =
      this.#waiting.length >= MOST_WAITING || this.#packer.byteLength + storedBytes(capture) > MOST_WAITING_BYTES;
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
   * others wait for it. Where storage is slow, one group: two syncs would cost more than the turns save. After a single sender, who is
   * not held, everything that is read in one turn of the loop shares a batch.
   */
  #sendOrHold(): void {
    if (this.#underWay) return;
    if (this.#enough === 1) this.#sendAfterTurn();
    else if (this.#waiting.length >= this.#enough) this.#send();
    else this.#held ??= setTimeout(() => this.#send(), this.#mostHeldMs());
  }

  #mostHeldMs(): number {
    return Math.min(MOST_HELD_MS, Math.max(LEAST_HELD_MS, this.#batchMs * MOST_HELD_OF_BATCH));
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
    this.#sentAt = this.#elapsed();
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
    this.#batchMs += (this.#elapsed() - this.#sentAt - this.#batchMs) * NEWEST;
    const onTheirWay = batch.length + this.#waiting.length;
    this.#enough = this.#batchMs > onTheirWay * SLOW_MS_PER_SENDER ? onTheirWay : Math.ceil(onTheirWay / 2);
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
