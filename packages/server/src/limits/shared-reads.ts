/** Calls for the same key share one read while it runs. */
export class SharedReads<Key, Result> {
  readonly #running = new Map<Key, Promise<Result>>();

  /** The read of the key that runs now. */
  running(key: Key): Promise<Result> | undefined {
    return this.#running.get(key);
  }

  /** Calls `read`, unless a read of the key runs. `isLatest` is false after `forget`, so that it does not keep its result. */
  run(key: Key, read: (isLatest: () => boolean) => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const isLatest = (): boolean => this.#running.get(key) === result;
    const result = read(isLatest).finally(() => {
      if (isLatest()) this.#running.delete(key);
    });
    this.#running.set(key, result);
    return result;
  }

  /** Later calls start a new read, because the running one may miss a change. */
  forget(key: Key): void {
    this.#running.delete(key);
  }

  forgetAll(): void {
    this.#running.clear();
  }
}
