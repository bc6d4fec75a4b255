import { afterBatch, BatchShares, FIRST_BATCH, whenToSend } from './batch-policy.ts';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import type { Reservation } from '../../limits/memory-budget.ts';
import { RoundRobin } from '../../limits/fair-queue.ts';
import { CapturePacker } from '../../database/packed-captures.ts';
import type { PackedCaptures } from '../../database/packed-captures.ts';
import { storedAs } from '../../database/store.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore } from '../../database/store.ts';
import { storedBytes } from '../../database/stored-request.ts';
import type { StoredAs } from '../../database/stored-request.ts';
import { freeBuffer } from '../../http/body-buffer.ts';

/** A capture that waits to be stored. */
export interface PendingCapture {
  readonly endpointId: number;
  /** The owner of the endpoint. */
  readonly userId: number;
  readonly method: string;
  /** Alternating names and values, as sent. */
  readonly flatHeaders: readonly string[];
  /** Encoded by `encodeHead`. */
  readonly head: string;
  readonly body: Buffer | null;
}

/**
 * `logged`: it is in the overflow log, and is stored later. `notFound`: the endpoint was deleted while it waited.
 * `failed`: storage did not accept it in time.
 */
export type CaptureResult = StoredAs | 'logged' | 'notFound' | 'failed';

/** Where batches are written: a database, with or without the overflow log. */
export interface BatchStore {
  /** Resolves when the batch is on disk. Rejects after `withinMs` milliseconds at the latest, if it can wait long. */
  writeCaptures(batch: PackedCaptures, limits: CaptureLimits, withinMs: number): Promise<CaptureOutcome | 'logged'>;
  /** Does the work that storage postponed at a large capture. Takes about as long as the capture. */
  readonly checkpoint?: CaptureStore['checkpoint'];
}

interface Waiting {
  readonly capture: PendingCapture;
  readonly receivedAt: number;
  readonly done: (result: CaptureResult) => void;
}

interface GatheredBatch {
  readonly captures: Waiting[];
  readonly shares: BatchShares;
  /** When its oldest capture arrived. */
  since: number;
}

interface Postponed {
  readonly waiting: Waiting;
  readonly since: number;
  readonly reservation: Reservation;
}

export interface CaptureWriterOptions {
  readonly limits: CaptureLimits;
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed?: () => number;
  /**
   * A batch of any size takes long, and so do its bytes: batches wait for all senders, and are smaller. Storage has a
   * time limit for each, so captures that waited too long for one fail.
   */
  readonly isSlow?: boolean;
  /** Called for a batch that storage rejected. */
  readonly onFailure: (error: unknown) => void;
}

/** Maximum number of captures that wait for a later batch. Beyond it the response is 503. */
const MAX_WAITING = 8192;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** One user's maximum share: of the captures, and of the bytes that the others leave. */
const MAX_SHARE = 1 / 2;
/** Milliseconds in which a capture is answered, counted from its complete arrival. */
const MAX_ANSWER_MS = 3500;
/** A capture that waited longer for a batch would leave little of this time to the captures of other users in it. */
const MAX_WAIT_MS = 2500;
/** A returned buffer is reused up to this size, so that one huge batch does not keep its memory. */
const MAX_SPARE_BYTES = 1024 * 1024;

/**
 * Group commit: while one batch is written and synced, the next one is collected, so one sync serves many senders. A
 * capture's `done` is called after its batch is on disk. Captures that exceed the next batch wait, with users taking
 * turns.
 */
export class CaptureWriter {
  readonly #store: BatchStore;
  readonly #options: CaptureWriterOptions;
  readonly #elapsed: () => number;
  readonly #isSlow: boolean;
  readonly #packer = new CapturePacker();
  #batch: GatheredBatch;
  #writing: GatheredBatch | undefined;
  readonly #postponed = new RoundRobin<number, Postponed>();
  readonly #postponedBudget = new MemoryBudget({ bytes: MAX_WAITING_BYTES, maxShare: MAX_SHARE });
  #needsCheckpoint = false;
  #state = FIRST_BATCH;
  #sendTimer: NodeJS.Timeout | undefined;
  #scheduled = false;
  #spare: ArrayBuffer | undefined;
  #onIdle: (() => void)[] = [];

  constructor(store: BatchStore, options: CaptureWriterOptions) {
    this.#store = store;
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#isSlow = options.isSlow ?? false;
    this.#batch = emptyBatch(this.#isSlow);
  }

  /** Number of captures that wait for their batch. */
  get waitingCount(): number {
    return this.#batch.captures.length + this.#postponed.size;
  }

  /** Adds a capture. False when too many wait, of this user or in total; then `done` is never called. */
  push(capture: PendingCapture, done: (result: CaptureResult) => void): boolean {
    const waiting = { capture, receivedAt: this.#options.now(), done };
    const bytes = storedBytes(capture);
    if (this.#postponed.sizeOf(capture.userId) === 0 && this.#fits(capture.userId, bytes))
      this.#gather(waiting, this.#batch.captures.length === 0 ? this.#elapsed() : this.#batch.since);
    else if (!this.#postpone(waiting, bytes)) return false;
    this.#sendOrWait();
    return true;
  }

  /** Resolves when nothing waits and no batch is being written. */
  async drain(): Promise<void> {
    if (this.waitingCount === 0 && this.#writing === undefined) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** A large capture waits while another one is written, and for the checkpoint after it. */
  #fits(userId: number, bytes: number): boolean {
    const { shares } = this.#batch;
    if (!shares.fits(userId, bytes)) return false;
    return !shares.isLarge(bytes) || !(this.#needsCheckpoint || this.#writing?.shares.hasLarge === true);
  }

  #gather(waiting: Waiting, since: number): void {
    const { endpointId, userId, method, head, body } = waiting.capture;
    this.#packer.add(endpointId, waiting.receivedAt, method, head, body);
    this.#batch.captures.push(waiting);
    this.#batch.shares.add(userId, storedBytes(waiting.capture));
    this.#batch.since = Math.min(this.#batch.since, since);
  }

  #postpone(waiting: Waiting, bytes: number): boolean {
    const { userId } = waiting.capture;
    if (this.#postponed.size >= MAX_WAITING || this.#postponed.sizeOf(userId) >= MAX_WAITING * MAX_SHARE) return false;
    const reservation = this.#postponedBudget.reserve(userId);
    if (!reservation.grow(bytes)) return false;
    this.#postponed.push(userId, { waiting, since: this.#elapsed(), reservation });
    return true;
  }

  /** Starts a batch with waiting captures, and leaves half of it to new ones. */
  #gatherPostponed(): void {
    const oldest = this.#isSlow ? this.#elapsed() - MAX_WAIT_MS : -Infinity;
    const fits = ({ waiting }: Postponed, userId: number): boolean => this.#fits(userId, storedBytes(waiting.capture));
    while (!this.#batch.shares.hasEnoughWaiting) {
      const next = this.#postponed.shift(fits);
      if (next === undefined) return;
      next.reservation.release();
      if (next.since >= oldest) this.#gather(next.waiting, next.since);
      else queueMicrotask(() => next.waiting.done('failed'));
    }
  }

  #sendOrWait(): void {
    const { length } = this.#batch.captures;
    if (this.#writing !== undefined || length === 0) return;
    const moment = this.#postponed.size > 0 ? 'now' : whenToSend(this.#state, length);
    if (moment === 'now') this.#send();
    else if (moment === 'after-turn') this.#sendAfterTurn();
    else this.#sendTimer ??= setTimeout(() => this.#send(), moment.withinMs);
  }

  #sendAfterTurn(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#writing === undefined) this.#send();
    });
  }

  #send(): void {
    clearTimeout(this.#sendTimer);
    this.#sendTimer = undefined;
    const batch = this.#batch;
    const now = this.#elapsed();
    this.#batch = emptyBatch(this.#isSlow);
    this.#writing = batch;
    const packed = this.#packer.take(this.#spare);
    const withinMs = MAX_ANSWER_MS - (now - batch.since);
    this.#spare = undefined;
    this.#gatherPostponed();
    this.#store.writeCaptures(packed, this.#options.limits, withinMs).then(
      (outcome) => this.#finish(batch, now, outcome),
      (error: unknown) => {
        this.#options.onFailure(error);
        this.#finish(batch, now, undefined);
      },
    );
  }

  #finish({ captures, shares }: GatheredBatch, sentAt: number, outcome: CaptureOutcome | 'logged' | undefined): void {
    this.#writing = undefined;
    // One batch of small captures, if any wait, goes before the checkpoint.
    const isCheckpointNext = this.#needsCheckpoint || this.#batch.captures.length === 0;
    this.#needsCheckpoint ||= shares.hasLarge && this.#store.checkpoint !== undefined;
    if (this.#needsCheckpoint && isCheckpointNext) void this.#checkpoint();
    else if (this.#batch.captures.length === 0) this.#gatherPostponed();
    const recycled = typeof outcome === 'object' ? outcome.recycled : undefined;
    if (recycled !== undefined && recycled.byteLength <= MAX_SPARE_BYTES) this.#spare = recycled;
    else if (recycled !== undefined) freeBuffer(recycled);
    const gathered = this.#batch.captures.length;
    this.#state = afterBatch(this.#state, this.#elapsed() - sentAt, captures.length + gathered, this.#isSlow);
    // Sends first: storage works on the next batch while this one's senders are answered.
    if (this.#writing === undefined && gathered >= this.#state.targetSize) this.#send();
    else this.#sendOrWait();
    captures.forEach(({ done }, position) => done(resultAt(outcome, position)));
    this.#reportIdle();
  }

  /** Captures are gathered meanwhile, as while a batch is written. If it fails, a later commit does its work. */
  async #checkpoint(): Promise<void> {
    this.#writing = emptyBatch(this.#isSlow);
    await this.#store.checkpoint?.().catch(() => undefined);
    this.#writing = undefined;
    this.#needsCheckpoint = false;
    if (this.#batch.captures.length === 0) this.#gatherPostponed();
    this.#sendOrWait();
    this.#reportIdle();
  }

  #reportIdle(): void {
    if (this.waitingCount === 0 && this.#writing === undefined) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

function emptyBatch(isSlow: boolean): GatheredBatch {
  return { captures: [], shares: new BatchShares(isSlow), since: Infinity };
}

function resultAt(outcome: CaptureOutcome | 'logged' | undefined, position: number): CaptureResult {
  if (outcome === undefined) return 'failed';
  return outcome === 'logged' ? 'logged' : (storedAs(outcome, position) ?? 'notFound');
}
