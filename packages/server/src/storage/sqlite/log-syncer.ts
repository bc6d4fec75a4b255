import { closeSync, fdatasync, openSync } from 'node:fs';

type Fdatasync = (file: number, done: (error: Error | null) => void) => void;

/**
 * Puts committed transactions on disk. The writer commits without waiting for the disk (`synchronous=NORMAL`: the log is written, not
 * synced); whoever must know that a commit will survive a power cut waits here for an `fdatasync` of the log that began after it.
 * One sync serves every commit before it, and the writer fills the next batch meanwhile.
 */
export class LogSyncer {
  readonly #file: number;
  readonly #fdatasync: Fdatasync;
  #running = false;
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #broken: Error | undefined;

  constructor(logFile: string, sync: Fdatasync = fdatasync) {
    this.#file = openSync(logFile, 'r');
    this.#fdatasync = sync;
  }

  /** Resolves when everything that was committed before the call is on disk. */
  sync(): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#running) this.#run();
    });
  }

  close(): void {
    closeSync(this.#file);
  }

  #run(): void {
    const served = this.#waiting;
    this.#waiting = [];
    this.#running = true;
    this.#fdatasync(this.#file, (error) => {
      this.#running = false;
      // After a failed sync the kernel may have dropped the pages: nothing that was not yet synced can be promised ever again.
      if (error !== null) this.#broken = error;
      for (const { resolve, reject } of served) {
        if (this.#broken === undefined) resolve();
        else reject(this.#broken);
      }
      if (this.#waiting.length > 0) this.#run();
    });
  }
}
