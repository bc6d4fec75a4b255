import { setTimeout as sleep } from 'node:timers/promises';
import type { PackedCaptures } from '../../database/packed-captures.ts';
import { StorageProblem, StorageUnavailable } from '../../database/store.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore, DrainedBatch, DrainStore } from '../../database/store.ts';
import { pause, withTimeout } from '../../limits/timeouts.ts';
import type { BatchStore } from './capture-writer.ts';
import { NoOverflowLog, SilentOverflowLog } from './overflow-stream.ts';
import type { LogPosition, LoggedBatches, LogState, OverflowLog } from './overflow-log.ts';

/** A batch that PostgreSQL has not stored after this part of its time limit goes to the log. */
const DATABASE_SHARE = 4 / 7;
/** Milliseconds for a check of PostgreSQL. */
const CHECK_MS = 2000;
/** Milliseconds to store what was read from the log. */
const DRAIN_MS = 3000;
/** Milliseconds between two checks of a database or a log that does not answer. */
const RETRY_MS = 250;
/** Milliseconds between two reads of the log's state, and between two searches for batches in it. */
const STATE_MS = 1000;
/** The same for batches, while this node has some in the log. */
const NEXT_MS = 50;
/** Milliseconds after a batch was added, before an empty log counts as drained at any last position. */
const SETTLED_MS = 10_000;
/** Milliseconds that a start waits for the first read of the log's state. */
const FIRST_READ_MS = 10_000;
/** Near the end of the log a new batch waits for it to be drained, for this many milliseconds at most. */
const CATCH_UP_MESSAGES = 64;
const CATCH_UP_MS = 1000;
const CATCH_UP_STEP_MS = 20;

export interface OverflowWriterOptions {
  readonly store: CaptureStore;
  /** Writes the log's batches, on a separate connection. */
  readonly drainStore: DrainStore;
  readonly log: Pick<OverflowLog, 'append' | 'next' | 'state' | 'isFull'>;
  readonly limits: CaptureLimits;
  /** Called for every batch that was moved from the log to the database. */
  readonly onDrained: (batch: PackedCaptures, outcome: CaptureOutcome) => void;
  readonly onFailure: (error: unknown) => void;
  /** Called when captures begin and end to go to the log. */
  readonly onMode: (mode: 'log' | 'database') => void;
}

/**
 * Writes batches to PostgreSQL, and to the overflow log while PostgreSQL does not store them. To keep the order, a node
 * with batches in the log adds its new ones there too. Every node drains the log.
 */
export class OverflowWriter implements BatchStore {
  readonly #options: OverflowWriterOptions;
  readonly #end = new AbortController();
  /** PostgreSQL failed, and no check of it has succeeded since. */
  #isDatabaseDown = false;
  /** The last batch of this node in the log; 0 when all are in the database. */
  #lastPosition: LogPosition = 0;
  /** When it was added. */
  #loggedAt = 0;
  #state: LogState | undefined;
  /** The last read of the log's state succeeded. */
  #isReachable = false;
  #drainedBatches = 0;
  #running: Promise<unknown> | undefined;
  /** Resolves when the log's state was read, and rejects when there is no log. */
  readonly #firstRead = Promise.withResolvers<void>();

  constructor(options: OverflowWriterOptions) {
    this.#options = options;
  }

  /** True while new batches go to the log. */
  get isLogging(): boolean {
    return this.#isDatabaseDown || this.#lastPosition > 0;
  }

  /** The last read found the log empty. While it can't be reached, another node may have added batches. */
  get isDrained(): boolean {
    return this.#isReachable && !this.isLogging && this.#state?.messages === 0;
  }

  /** The state at the last read; `undefined` before the first one. */
  get logState(): LogState | undefined {
    return this.#state;
  }

  /** A batch did not fit into the log, and it was not emptied since. */
  get isFull(): boolean {
    return this.#options.log.isFull;
  }

  get drainedBatches(): number {
    return this.#drainedBatches;
  }

  /**
   * Starts to drain. Resolves after the first read of the log's state, because the batches of an earlier process of
   * this node must be stored first. Resolves also if there is no log, or if it does not answer for `withinMs`
   * milliseconds.
   */
  async start(withinMs = FIRST_READ_MS): Promise<void> {
    this.#running ??= Promise.all([this.#drain(), this.#watch()]);
    const late = (): Error =>
      new SilentOverflowLog('The overflow log did not answer. Captures may overtake its batches.');
    await withTimeout(withinMs, this.#firstRead.promise, late).catch(this.#options.onFailure);
  }

  /** Resolves after the batch that is being drained. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async writeCaptures(
    batch: PackedCaptures,
    limits: CaptureLimits,
    withinMs: number,
  ): Promise<CaptureOutcome | 'logged'> {
    const deadline = performance.now() + withinMs;
    if (this.#lastPosition > 0 && !this.#isDatabaseDown) await this.#catchUp();
    if (!this.isLogging) {
      const databaseMs = (deadline - performance.now()) * DATABASE_SHARE;
      try {
        return await this.#options.store.writeCaptures(batch, limits, databaseMs);
      } catch (error) {
        if (!isOutage(error)) throw error;
        this.#setMode({ isDatabaseDown: true });
        this.#options.onFailure(error);
      }
    }
    const position = await this.#options.log.append(batch, deadline - performance.now());
    this.#loggedAt = performance.now();
    this.#setMode({ lastPosition: position });
    return 'logged';
  }

  /** @throws StorageUnavailable when the log can't take a batch. */
  async checkLog(): Promise<void> {
    try {
      await this.#readState();
    } catch (error) {
      throw new StorageUnavailable('The overflow log does not answer.', { cause: error });
    }
    if (this.isFull) throw new StorageUnavailable('The overflow log is full.');
  }

  #setMode(change: { readonly isDatabaseDown?: boolean; readonly lastPosition?: LogPosition }): void {
    const before = this.isLogging;
    this.#isDatabaseDown = change.isDatabaseDown ?? this.#isDatabaseDown;
    this.#lastPosition = change.lastPosition ?? this.#lastPosition;
    if (this.isLogging !== before) this.#options.onMode(this.isLogging ? 'log' : 'database');
  }

  /** If few messages are left, waits until they are drained. Otherwise the log would never become empty under load. */
  async #catchUp(): Promise<void> {
    const until = performance.now() + CATCH_UP_MS;
    try {
      for (;;) {
        const { drainedTo } = await this.#readState();
        if (this.#lastPosition === 0 || this.#isDatabaseDown || this.#lastPosition - drainedTo > CATCH_UP_MESSAGES)
          return;
        if (performance.now() > until) return;
        await sleep(CATCH_UP_STEP_MS);
      }
    } catch {
      // The log does not answer; the batch fails when it is added.
    }
  }

  async #readState(): Promise<LogState> {
    this.#isReachable = false;
    const state = await this.#options.log.state();
    // Batches of an earlier process of this node may be in the log.
    if (this.#state === undefined && state.messages > 0)
      this.#setMode({ lastPosition: Math.max(this.#lastPosition, state.lastPosition) });
    this.#state = state;
    this.#isReachable = true;
    // Positions may be smaller after a nats-server was killed.
    const isEmpty = state.messages === 0 && performance.now() - this.#loggedAt > SETTLED_MS;
    if (isEmpty || state.drainedTo >= this.#lastPosition) this.#setMode({ lastPosition: 0 });
    this.#firstRead.resolve();
    return state;
  }

  async #watch(): Promise<void> {
    while (!this.#end.signal.aborted) {
      await this.#readState().catch((error: unknown) => {
        if (error instanceof NoOverflowLog) this.#firstRead.reject(error);
      });
      await pause(this.#lastPosition > 0 || !this.#isReachable ? RETRY_MS : STATE_MS, this.#end.signal);
    }
  }

  /**
   * All nodes drain. They need no lock: a batch becomes the oldest one after all before it are stored, and its id
   * prevents a second copy. A node that finds its batches stored by another one leaves the work to it for a while.
   */
  async #drain(): Promise<void> {
    // A silent log and a failure are each reported once per outage, not with each attempt.
    const reported = new Set<boolean>();
    while (!this.#end.signal.aborted) {
      try {
        if (this.#isDatabaseDown) await this.#options.drainStore.check(CHECK_MS);
        this.#setMode({ isDatabaseDown: false });
        const found = await this.#options.log.next();
        const stored = found && (await this.#store(found));
        reported.clear();
        if (stored === undefined) await pause(this.#lastPosition > 0 ? NEXT_MS : STATE_MS, this.#end.signal);
        else if (stored === 0) await pause(STATE_MS, this.#end.signal);
      } catch (error) {
        const isSilent = error instanceof SilentOverflowLog;
        if (!reported.has(isSilent) && (isSilent || !isOutage(error))) {
          reported.add(isSilent);
          this.#options.onFailure(error);
        }
        await pause(RETRY_MS, this.#end.signal);
      }
    }
  }

  /** Returns the number of batches that were not stored yet. */
  async #store({ batches, done }: LoggedBatches): Promise<number> {
    let drained: DrainedBatch[];
    try {
      drained = await this.#options.drainStore.writeLogged(batches, this.#options.limits, DRAIN_MS);
    } catch (error) {
      if (isOutage(error)) this.#setMode({ isDatabaseDown: true });
      throw error;
    }
    let stored = 0;
    for (const { batch, outcome } of drained) {
      stored += batch.joinedIds?.length ?? 0;
      this.#options.onDrained(batch, outcome);
    }
    this.#drainedBatches += stored;
    await done();
    return stored;
  }
}

/** True if PostgreSQL failed, and not the batch. A server that could lose commits counts as failed, too. */
function isOutage(error: unknown): boolean {
  return error instanceof StorageUnavailable || error instanceof StorageProblem;
}
