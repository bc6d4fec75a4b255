import { argon2 } from 'node:crypto';
import type { Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { workerFile } from '../worker-file.ts';

/** One Argon2id hash. */
export type Derive = (parameters: Argon2Parameters) => Promise<Uint8Array>;

const THREAD = workerFile(import.meta.url, './hash-thread.ts', './hash-thread.js');

/** How many hashes run at once: each takes 19 MiB and a core of its own; the others wait. Half of the cores stay with captures. */
export const HASHES_AT_ONCE = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));

/** As the system shows it; Linux keeps 15 characters. */
export const HASH_THREAD_NAME = 'password-hasher';

/** It hands over a few bytes and gets a few back; what a hash works in is not V8's. */
const LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 };

/** How long a hash may wait for the machine to have nothing better to do. It takes some 30 ms where there is a core for it. */
const PATIENCE_MS = 1000;

/** Hashes on one of libuv's threads, at the priority of all others. */
export function deriveInPool(parameters: Argon2Parameters): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, tag) => (error === null ? resolve(tag) : reject(error)));
  });
}

/**
 * Hashes on threads of its own, which yield to everything else. A machine that is busy without end would never come to it: what took
 * too long is hashed once more in the pool, and so is what comes while the threads are still behind.
 */
export class HashThreads {
  readonly #most: number;
  readonly #patienceMs: number;
  readonly #threads = new Set<HashThread>();

  constructor(most = HASHES_AT_ONCE, patienceMs = PATIENCE_MS) {
    this.#most = most;
    this.#patienceMs = patienceMs;
  }

  readonly derive: Derive = async (parameters) => {
    const thread = this.#freeThread();
    if (thread === undefined) return deriveInPool(parameters);
    return (await thread.derive(parameters, this.#patienceMs)) ?? deriveInPool(parameters);
  };

  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  }

  /** Threads start when they are first needed. */
  #freeThread(): HashThread | undefined {
    for (const thread of this.#threads) if (!thread.isBusy) return thread;
    if (this.#threads.size >= this.#most) return undefined;
    const thread: HashThread = new HashThread(() => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

/** The main thread's half of hash-thread.ts: one hash at a time. */
class HashThread {
  readonly #worker: Worker;
  #done: ((tag: Uint8Array | undefined) => void) | undefined;

  constructor(onEnd: () => void) {
    this.#worker = new Worker(THREAD, { name: HASH_THREAD_NAME, resourceLimits: LIMITS });
    this.#worker.unref();
    this.#worker.on('message', (tag: Uint8Array) => this.#finish(tag));
    // It ends with the process, or for want of memory; its exit follows, and what it had is hashed elsewhere.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', () => {
      onEnd();
      this.#finish(undefined);
    });
  }

  get isBusy(): boolean {
    return this.#done !== undefined;
  }

  /** `undefined` when the thread has ended, or has not come to it in that time; it stays busy until it has. */
  derive(parameters: Argon2Parameters, patienceMs: number): Promise<Uint8Array | undefined> {
    return new Promise((resolve) => {
      const tooLong = setTimeout(resolve, patienceMs, undefined).unref();
      this.#done = (tag) => {
        clearTimeout(tooLong);
        resolve(tag);
      };
      // Copied: nothing of them is handed over.
      this.#worker.postMessage(parameters, []);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #finish(tag: Uint8Array | undefined): void {
    this.#done?.(tag);
    this.#done = undefined;
  }
}
