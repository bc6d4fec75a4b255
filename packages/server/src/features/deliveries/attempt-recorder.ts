import { setTimeout as sleep } from 'node:timers/promises';
import { StorageUnavailable } from '../../database/store.ts';
import { pause } from '../../limits/timeouts.ts';
import { CoalescedRun } from '../../workers/background.ts';
import type { Attempt } from './attempt-queries.ts';
import type { DeliveryQueries } from './queries.ts';
import type { RecordedAttempts } from './record-queries.ts';

/** Attempts per transaction, so that captures of the same endpoints wait only briefly. */
const MAX_AT_ONCE = 64;
/** Milliseconds between two transactions, so that steady attempts are recorded several at a time. */
const ROUND_MS = 10;
/** Waits while storage is unavailable, doubled each time. Until an attempt is stored, its delivery is not repeated. */
const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

export interface RecorderOptions {
  readonly store: Pick<DeliveryQueries, 'recordAttempts'>;
  readonly now: () => number;
  readonly onRecorded: (recorded: RecordedAttempts) => void;
  readonly onFailure: (error: unknown) => void;
  /** Aborts when the process stops. Attempts that are not stored then are repeated. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly attempt: Attempt;
  readonly done: () => void;
}

/** Group commit: until the next transaction, attempts are collected. */
export class AttemptRecorder {
  readonly #options: RecorderOptions;
  readonly #waiting: Waiting[] = [];
  readonly #writing = new CoalescedRun(() => this.#writeAll());

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Resolves when the attempt is stored, or storing it has failed. */
  record(attempt: Attempt): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ attempt, done: resolve });
      this.#writing.start();
    });
  }

  async #writeAll(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const began = performance.now();
      const attempts = batch.map(({ attempt }) => attempt);
      const isStored = await this.#write(attempts, (error) => error instanceof StorageUnavailable);
      if (isStored) for (const { done } of batch) done();
      // Storage fails for one of them only. Stored one by one, it does not delay the others.
      else for (const waiting of batch) void this.#writeAlone(waiting);
      await sleep(Math.max(0, ROUND_MS - (performance.now() - began)));
    }
  }

  async #writeAlone({ attempt, done }: Waiting): Promise<void> {
    await this.#write([attempt], () => true);
    done();
  }

  #take(): Waiting[] {
    return this.#waiting.splice(0, MAX_AT_ONCE);
  }

  /** Tries until the attempts are stored. False after an error that is not worth retrying, and when the process stops. */
  async #write(attempts: readonly Attempt[], isWorthRetrying: (error: unknown) => boolean): Promise<boolean> {
    const { store, now, onRecorded, onFailure, signal } = this.#options;
    let mayBeStored = false;
    for (let wait = RETRY_MS; !signal.aborted; wait = Math.min(MAX_RETRY_MS, 2 * wait)) {
      try {
        onRecorded(await store.recordAttempts(attempts, now(), mayBeStored));
        return true;
      } catch (error) {
        onFailure(error);
        // The connection may have been lost after the commit.
        mayBeStored = true;
        if (!isWorthRetrying(error)) return false;
        await pause(wait, signal);
      }
    }
    return false;
  }
}
