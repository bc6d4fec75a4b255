import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { waitAtMost, pause } from '../limits/timeouts.ts';

/** Work that runs and that no caller awaits. It must not reject. */
export class RunningWork {
  readonly #running = new Set<Promise<void>>();

  get size(): number {
    return this.#running.size;
  }

  add(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all work has ended that runs now. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** Runs work that does not fail: once at a time, and once more if it was started meanwhile. */
export class CoalescedRun {
  readonly #work: () => Promise<void>;
  #isWanted = false;
  #running: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when no run is wanted any more. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  start(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#work();
    }
    this.#running = undefined;
  }
}

/** Milliseconds from the end of a run to the next one, and if the run left work. */
const INTERVAL_MS = 20_000;
const SOON_MS = 20;

/** Does all work that is due. After the signal aborts, it only finishes what it has begun. True when work is left. */
type RunOnce = (signal: AbortSignal) => Promise<boolean>;

/** Runs a job repeatedly, one run at a time. Failures are logged and retried. */
export class IntervalJob {
  readonly #name: string;
  readonly #runOnce: RunOnce;
  readonly #log: Logger;
  readonly #end = new AbortController();
  /** Aborts when new work arrives after the last run began. */
  #woken = new AbortController();
  #runs: Promise<void> = Promise.resolve();

  constructor(name: string, runOnce: RunOnce, log: Logger) {
    this.#name = name;
    this.#runOnce = runOnce;
    this.#log = log;
  }

  start(): void {
    this.#runs = this.#repeat();
  }

  /** Starts the next run now, or soon after the current one. */
  wake(): void {
    this.#woken.abort();
  }

  /** Stops after the current run, or after `withinMs`, because a mail server may be slow to respond. */
  async stop(withinMs: number): Promise<void> {
    this.#end.abort();
    this.wake();
    await waitAtMost(withinMs, this.#runs);
  }

  async #repeat(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#woken = new AbortController();
      const { signal } = this.#woken;
      const hasMore = await this.#runOnce(this.#end.signal).catch((error: unknown) => {
        this.#log.error({ err: error }, `${this.#name} failed; the server tries again`);
        return false;
      });
      if (hasMore || signal.aborted) await sleep(SOON_MS, undefined, { ref: false });
      else await pause(INTERVAL_MS, signal);
    }
  }
}
