import type { Logger } from '../../log.ts';

/** More than this at once is refused: what nobody waits for must not pile up either. */
const MOST_AT_ONCE = 100;

/** Work that no answer waits for. Its failures are logged; when the server stops, it is waited for. */
export class Background {
  readonly #log: Logger;
  readonly #running = new Set<Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Starts it. `what` says in the log what failed. */
  run(what: string, work: () => Promise<void>): void {
    if (this.#running.size >= MOST_AT_ONCE) {
      this.#log.error(`${what}: too much is under way already`);
      return;
    }
    const running = work()
      .catch((error: unknown) => this.#log.error({ err: error }, `${what} failed`))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when everything that was started has ended, or after `mostMs`. */
  async settle(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, mostMs);
    });
    await Promise.race([Promise.all(this.#running), enough]);
    clearTimeout(timer);
  }
}
