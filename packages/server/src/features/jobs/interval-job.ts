import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { Logger } from '../../log.ts';

/** Time-driven work runs at least once a minute (contract 7); a round that left work is followed soon. */
const ROUND_MS = 20_000;
const SOON_MS = 20;

/** Does everything that is due by now, or, once the signal says so, no more than it has begun; true when it left some of it. */
type RunOnce = (signal: AbortSignal) => Promise<boolean>;

/** Does something again and again, one round after the other. What fails is told to the log and tried again. */
export class Rounds {
  readonly #name: string;
  readonly #runOnce: RunOnce;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  /** There is new work since the present round began. */
  #isWoken = false;
  #isRunning = false;
  readonly #end = new AbortController();

  constructor(name: string, runOnce: RunOnce, log: Logger) {
    this.#name = name;
    this.#runOnce = runOnce;
    this.#log = log;
  }

  start(): void {
    this.#next(0);
  }

  /** Starts the next round now, or soon after the one that is running. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isRunning) return;
    clearTimeout(this.#timer);
    this.#next(0);
  }

  /** Stops after the round that is under way, or without it once `withinMs` have passed: a mail server may be slow to answer. */
  async stop(withinMs: number): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await Promise.race([this.#round, setTimeoutPromise(withinMs, undefined, { ref: false })]);
  }

  #endRound(more: boolean): void {
    this.#isRunning = false;
    this.#next(more || this.#isWoken ? SOON_MS : ROUND_MS);
  }

  #next(delay: number): void {
    if (this.#end.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#isRunning = true;
      this.#isWoken = false;
      this.#round = this.#runOnce(this.#end.signal).then(
        (more) => this.#endRound(more),
        (error: unknown) => {
          this.#log.error({ err: error }, `${this.#name} failed; it is tried again`);
          this.#endRound(false);
        },
      );
    }, delay);
    this.#timer.unref();
  }
}
