import { METHODS } from 'node:http';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import type { Reservation } from '../../limits/memory-budget.ts';
import { RoundRobin } from '../../limits/round-robin.ts';
import { CapturePacker } from '../../database/packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore } from '../../database/store.ts';
import { storedBytes } from '../../database/stored-bytes.ts';
import { afterBatch, FIRST_BATCH, whenToSend } from './batch-policy.ts';

/** A capture that waits to be stored. */
export interface PendingCapture {
  readonly endpointId: number;
  /** Whose endpoint it is. */
  readonly userId: number;
  readonly method: string;
  /** Names and values by turns, as sent. */
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
  readonly capture: PendingCapture;
  readonly receivedAt: number;
  readonly done: (result: CaptureResult) => void;
}

export interface CaptureWriterOptions {
  readonly limits: CaptureLimits;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed?: () => number;
  /** Told of a batch that storage refused. */
  readonly onFailure: (error: unknown, count: number) => void;
}

/**
 * A batch holds this much at most, and one user's captures at most half of it: a batch is written within some 30 ms, and a user whose
 * endpoint is flooded leaves room for the others in every one.
 */
const MAX_BATCH = 1024;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** What may wait for a later batch. Over it the response is 503. */
const MAX_WAITING = 8192;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** The part of both that one user may have. */
const MAX_SHARE = 1 / 2;
/** A buffer that came back from storage is used again up to this size; what one huge batch needed is not kept. */
const MAX_SPARE_BYTES = 1024 * 1024;

/**
 * Group commit: while a batch is written and synced the next one is gathered, so that one sync serves many senders. A capture's `done`
 * is called after its batch is on disk, never before. What does not fit into the next batch waits, by turns between users.
 */
export class CaptureWriter {
  readonly #store: CaptureStore;
  readonly #options: CaptureWriterOptions;
  readonly #elapsed: () => number;
  readonly #packer = new CapturePacker(METHODS);
  /** The batch that is being gathered, and what it holds of each user. */
  #batch: Waiting[] = [];
  readonly #inBatch = new Map<number, { count: number; bytes: number }>();
  readonly #later = new RoundRobin<number, { readonly waiting: Waiting; readonly reservation: Reservation }>();
  readonly #laterBudget = new MemoryBudget({ bytes: MAX_WAITING_BYTES, maxShare: MAX_SHARE });
  /** A batch is with storage and not yet on disk. */
  #underWay = false;
  #state = FIRST_BATCH;
  #sentAt = 0;
  #held: NodeJS.Timeout | undefined;
  #scheduled = false;
  #lastReceivedAt = 0;
  #spare: ArrayBuffer | undefined;
  #idle: (() => void)[] = [];

  constructor(store: CaptureStore, options: CaptureWriterOptions) {
    this.#store = store;
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /** Captures that wait for their batch. */
  get waitingCount(): number {
    return this.#batch.length + this.#later.size;
  }

  /** Takes a capture; false when too much waits already, of this user or in all, and then `done` is never called. */
  push(capture: PendingCapture, done: (result: CaptureResult) => void): boolean {
    // Times never go back within a process, so that "newest first" by time and by index agree.
    const receivedAt = Math.max(this.#lastReceivedAt, this.#options.now());
    const waiting = { capture, receivedAt, done };
    const bytes = storedBytes(capture);
    if (this.#later.sizeOf(capture.userId) === 0 && this.#fits(capture.userId, bytes)) this.#gather(waiting);
    else if (!this.#postpone(waiting, bytes)) return false;
    this.#lastReceivedAt = receivedAt;
    this.#sendOrHold();
    return true;
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    if (this.waitingCount === 0 && !this.#underWay) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #fits(userId: number, bytes: number): boolean {
    if (this.#batch.length === 0) return true;
    if (this.#batch.length >= MAX_BATCH || this.#packer.byteLength + bytes > MAX_BATCH_BYTES) return false;
    const own = this.#inBatch.get(userId);
    return own === undefined || (own.count < MAX_BATCH * MAX_SHARE && own.bytes + bytes <= MAX_BATCH_BYTES * MAX_SHARE);
  }

  #gather(waiting: Waiting): void {
    const { endpointId, userId, method, head, body } = waiting.capture;
    const own = this.#inBatch.get(userId);
    const bytes = storedBytes(waiting.capture);
    if (own === undefined) this.#inBatch.set(userId, { count: 1, bytes });
    else {
      own.count += 1;
      own.bytes += bytes;
    }
    this.#packer.add(endpointId, waiting.receivedAt, method, head, body);
    this.#batch.push(waiting);
  }

  #postpone(waiting: Waiting, bytes: number): boolean {
    const { userId } = waiting.capture;
    if (this.#later.size >= MAX_WAITING || this.#later.sizeOf(userId) >= MAX_WAITING * MAX_SHARE) return false;
    const reservation = this.#laterBudget.reserve(userId);
    if (!reservation.grow(bytes)) return false;
    this.#later.push(userId, { waiting, reservation });
    return true;
  }

  /** Begins a batch with what had to wait, and leaves half of it to those who come now. */
  #gatherPostponed(): void {
    while (this.#batch.length < MAX_BATCH * MAX_SHARE && this.#packer.byteLength < MAX_BATCH_BYTES * MAX_SHARE) {
      const next = this.#later.shift();
      if (next === undefined) return;
      next.reservation.release();
      this.#gather(next.waiting);
    }
  }

  #sendOrHold(): void {
    if (this.#underWay || this.#batch.length === 0) return;
    const moment = this.#later.size > 0 ? 'now' : whenToSend(this.#state, this.#batch.length);
    if (moment === 'now') this.#send();
    else if (moment === 'after-turn') this.#sendAfterTurn();
    else this.#held ??= setTimeout(() => this.#send(), moment.withinMs);
  }

  #sendAfterTurn(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#underWay) this.#send();
    });
  }

  #send(): void {
    clearTimeout(this.#held);
    this.#held = undefined;
    const batch = this.#batch;
    this.#batch = [];
    this.#inBatch.clear();
    this.#underWay = true;
    this.#sentAt = this.#elapsed();
    const packed = this.#packer.take(this.#spare);
    this.#spare = undefined;
    this.#gatherPostponed();
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
    if (outcome?.recycled !== undefined && outcome.recycled.byteLength <= MAX_SPARE_BYTES)
      this.#spare = outcome.recycled;
    this.#state = afterBatch(this.#state, this.#elapsed() - this.#sentAt, batch.length + this.#batch.length);
    // Storage first: it works on the next batch while this one's senders are answered.
    if (this.#batch.length >= this.#state.enough) this.#send();
    else this.#sendOrHold();
    for (let position = 0; position < batch.length; position += 1) {
      const waiting = batch[position];
      waiting?.done(resultAt(outcome, position, waiting.receivedAt));
    }
    if (this.waitingCount === 0 && !this.#underWay) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function resultAt(outcome: CaptureOutcome | undefined, position: number, receivedAt: number): CaptureResult {
  if (outcome === undefined) return 'failed';
  const index = outcome.indexes[position] ?? -1;
  if (index < 0) return 'gone';
  return { index, savedId: outcome.savedIds[position] || null, receivedAt };
}
