/** Minimum interval between two `endpoint` messages. */
const TICK_MS = 1000;

/**
 * Notifies an endpoint's viewers of changed counters: at once, then at most once a second, and once more after the last
 * change. The second starts after the notification, and notifications never overlap.
 */
export class EndpointTicker {
  readonly #notify: (endpointId: number) => Promise<void>;
  /** Endpoints that were notified less than a second ago; true when they changed since. */
  readonly #changed = new Map<number, boolean>();
  #stopped = false;

  /** `notify` reads the counters itself, so they include every earlier change. It does not reject. */
  constructor(notify: (endpointId: number) => Promise<void>) {
    this.#notify = notify;
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
    do {
      this.#changed.set(endpointId, false);
      await this.#notify(endpointId);
      await new Promise((resolve) => setTimeout(resolve, TICK_MS).unref());
    } while (this.#changed.get(endpointId) === true && !this.#stopped);
    this.#changed.delete(endpointId);
  }
}
