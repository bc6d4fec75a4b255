import type { Logger } from '../log.ts';

/** More work than this is rejected, so that it can't pile up. */
const MAX_AT_ONCE = 100;

/** Runs work in the background. Failures are logged, and shutdown waits for it. */
export class Background {
  readonly #log: Logger;
  readonly #running = new Set<Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Starts `work`. `what` names it in the log. */
  run(what: string, work: () => Promise<void>): void {
    if (this.#running.size >= MAX_AT_ONCE) {
      this.#log.error(`${what}: too much is under way already`);
      return;
    }
    const running = work()
      .catch((error: unknown) => this.#log.error({ err: error }, `${what} failed`))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all work has ended, or after `maxMs`. */
  async settle(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxMs);
    });
    await Promise.race([Promise.all(this.#running), enough]);
    clearTimeout(timer);
  }
}
