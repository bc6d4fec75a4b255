import type { LiveEvent } from './live.ts';

type Listener = (event: LiveEvent) => void;

/**
 * Listeners by endpoint. Publishing never waits and never fails: a listener that throws is removed and reported to
 * `onFailure`.
 */
export class Hub {
  readonly #listeners = new Map<number, Set<Listener>>();
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** True when the endpoint has a listener; otherwise no event needs to be prepared. */
  isWatched(endpointId: number): boolean {
    return this.#listeners.has(endpointId);
  }

  /** Calls `listener` with every event from now on. Returns the unsubscribe function. */
  subscribe(endpointId: number, listener: Listener): () => void {
    const listeners = this.#listeners.get(endpointId) ?? new Set();
    this.#listeners.set(endpointId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(endpointId) === listeners) this.#listeners.delete(endpointId);
    };
  }

  publish(endpointId: number, event: LiveEvent): void {
    const listeners = this.#listeners.get(endpointId);
    if (listeners === undefined) return;
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        listeners.delete(listener);
        if (listeners.size === 0) this.#listeners.delete(endpointId);
        this.#onFailure(error);
      }
    }
  }
}
