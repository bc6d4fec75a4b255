import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from './attempt-queries.ts';
import type { DeliveryQueries } from './queries.ts';
import type { RecordedAttempts } from './record-queries.ts';

/** Attempts per transaction, so that captures of the same endpoints wait only briefly. */
const MAX_AT_ONCE = 64;
/**
 * Waits between tries while storage is unavailable, doubled each time up to the maximum. Until an attempt is stored, its
 * delivery is not sent again.
 */
const RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

export interface RecorderOptions {
  readonly store: Pick<DeliveryQueries, 'recordAttempts'>;
  readonly now: () => number;
  readonly onRecorded: (recorded: RecordedAttempts) => void;
  readonly onFailure: (error: unknown) => void;
  /** Aborts when the process stops. What is not stored then is sent again. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly attempt: Attempt;
  readonly done: () => void;
}

/** Group commit: while one transaction is written, the next attempts are collected. */
export class AttemptRecorder {
  readonly #options: RecorderOptions;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Resolves when the attempt is stored, or can't be stored. */
  record(attempt: Attempt): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ attempt, done: resolve });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      await this.#write(batch.map(({ attempt }) => attempt));
      for (const { done } of batch) done();
    }
    this.#isRunning = false;
  }

  #take(): Waiting[] {
    return this.#waiting.splice(0, MAX_AT_ONCE);
  }

  async #write(attempts: readonly Attempt[]): Promise<void> {
    const { store, now, onRecorded, onFailure, signal } = this.#options;
    for (let wait = RETRY_MS; !signal.aborted; wait = Math.min(MAX_RETRY_MS, 2 * wait)) {
      try {
        return onRecorded(await store.recordAttempts(attempts, now()));
      } catch (error) {
        onFailure(error);
        await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
}
