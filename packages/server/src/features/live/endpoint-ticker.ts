/** Minimum interval between two `endpoint` messages. */
const TICK_MS = 1000;

/**
 * Notifies an endpoint's viewers of changed counters: at once, then at most once a second, and once more after the last
 * change. The second starts after the notification, and notifications never overlap.
 */
export class EndpointTicker {
  readonly #notify: (endpointId: number) => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  /** Endpoints that were notified less than a second ago; true when they changed since. */
  readonly #changed = new Map<number, boolean>();
  #stopped = false;

  /**
   * `notify` reads the counters itself, so they include every earlier change. If it rejects, it is called again after a
   * second. `onFailure` reports the first of several failures in a row.
   */
  constructor(notify: (endpointId: number) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#notify = notify;
    this.#onFailure = onFailure;
  }

  /** Records that the endpoint's counters changed. */
  touch(endpointId: number): void {
    if (this.#stopped) return;
    if (this.#changed.has(endpointId)) this.#changed.set(endpointId, true);
    else void this.#run(endpointId);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(endpointId: number): Promise<void> {
    let hasFailed = false;
    do {
      this.#changed.set(endpointId, false);
      try {
        await this.#notify(endpointId);
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) this.#onFailure(error);
        hasFailed = true;
        // Otherwise viewers keep the old counters until the next change.
        this.#changed.set(endpointId, true);
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MS).unref());
    } while (this.#changed.get(endpointId) === true && !this.#stopped);
    this.#changed.delete(endpointId);
  }
}
