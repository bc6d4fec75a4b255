/** Between two `endpoint` messages at least (contract 5). */
const TICK_MS = 1000;

/**
 * Tells an endpoint's viewers of its changed numbers: at once, then at most once a second, and once more after the last change. The
 * second begins when the viewers were told, however long that took, and they are never told twice at the same time.
 */
export class EndpointTicker {
  readonly #tell: (endpointId: number) => Promise<void>;
  /** Endpoints that were told of less than a second ago; true when they changed since. */
  readonly #changed = new Map<number, boolean>();
  #stopped = false;

  /** `tell` reads the numbers itself, so that what changed before it is called is in them. It does not reject. */
  constructor(tell: (endpointId: number) => Promise<void>) {
    this.#tell = tell;
  }

  /** Notes that the endpoint's numbers moved. */
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
      await this.#tell(endpointId);
      await pause();
    } while (this.#changed.get(endpointId) === true && !this.#stopped);
    this.#changed.delete(endpointId);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, TICK_MS).unref();
  });
}
