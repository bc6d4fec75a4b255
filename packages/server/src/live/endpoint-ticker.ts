/** An `endpoint` message at most this often (contract 5). */
const TICK_MS = 1000;

/** Tells an endpoint's viewers of its changed numbers: at once, then at most once a second, and once more after the last change. */
export class EndpointTicker {
  readonly #tell: (endpointId: number) => void;
  readonly #waiting = new Map<number, { timer: NodeJS.Timeout; again: boolean }>();

  constructor(tell: (endpointId: number) => void) {
    this.#tell = tell;
  }

  /** Notes that the endpoint's numbers moved. */
  touch(endpointId: number): void {
    const entry = this.#waiting.get(endpointId);
    if (entry !== undefined) {
      entry.again = true;
      return;
    }
    this.#start(endpointId);
    this.#tell(endpointId);
  }

  stop(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #start(endpointId: number): void {
    const timer = setTimeout(() => {
      const again = this.#waiting.get(endpointId)?.again ?? false;
      this.#waiting.delete(endpointId);
      if (!again) return;
      this.#start(endpointId);
      this.#tell(endpointId);
    }, TICK_MS);
    timer.unref();
    this.#waiting.set(endpointId, { timer, again: false });
  }
}
