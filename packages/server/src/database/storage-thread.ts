import { Worker } from 'node:worker_threads';
import { workerFile } from '../workers/worker-file.ts';
import type { PackedCaptures } from './packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, DiskState } from './store.ts';
import { StorageProblem, StorageUnavailable } from './storage-problem.ts';
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts';

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** The entry file of each kind of thread. */
const THREADS = {
  sqlite: workerFile(import.meta.url, './sqlite/thread.ts', './storage-thread.js'),
  postgres: workerFile(import.meta.url, './postgres/scan-thread.ts', './scan-thread.js'),
} as const;

/**
 * Objects in these threads are short-lived and small. V8's default would let each thread grow to 48 MB before it
 * collects.
 */
const YOUNG_GENERATION_MB = 8;

/** The main thread's side of a storage thread. Each call is a message and a promise. */
export class StorageThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #disk: DiskState | undefined;
  #onDisk: ((state: DiskState) => void) | undefined;
  #dead: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (message: FromThread) => this.#receive(message));
    worker.on('error', (error) => this.#die(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => this.#die(new StorageUnavailable('The storage thread has ended.')));
  }

  /** Starts a thread and waits until it is ready. @throws StorageProblem when it fails to start. */
  static async start(data: ThreadData): Promise<StorageThread> {
    const worker = new Worker('url' in data ? THREADS.postgres : THREADS.sqlite, {
      workerData: data,
      name: `storage-${data.role}`,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    await new Promise<void>((resolve, reject) => {
      const ended = (): void => reject(new Error('The storage thread ended before it was ready.'));
      worker.once('error', reject);
      worker.once('exit', ended);
      worker.once('message', (message: FromThread) => {
        if (message.kind === 'refused') return reject(new StorageProblem(message.problem));
        worker.off('error', reject);
        worker.off('exit', ended);
        resolve();
      });
    });
    return new StorageThread(worker);
  }

  query(name: string, args: readonly unknown[]): Promise<never> {
    return this.#send((id) => this.#worker.postMessage({ kind: 'query', id, name, args } satisfies ToThread));
  }

  /** Calls back with the state of the disk and each change of it. Only the writer reports it. */
  watchDisk(onState: (state: DiskState) => void): void {
    this.#onDisk = onState;
    if (this.#disk !== undefined) onState(this.#disk);
  }

  writeCaptures(batch: PackedCaptures, limits: CaptureLimits): Promise<CaptureOutcome> {
    return this.#send((id) =>
      this.#worker.postMessage({ kind: 'captures', id, batch, limits } satisfies ToThread, [
        batch.numbers.buffer,
        batch.bytes.buffer,
      ]),
    );
  }

  get hasEnded(): boolean {
    return this.#dead !== undefined;
  }

  /** Lets the thread finish its calls, close its connection and end. */
  async close(): Promise<void> {
    if (this.#dead !== undefined) return;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    await this.#send((id) => this.#worker.postMessage({ kind: 'close', id } satisfies ToThread)).catch(() => undefined);
    await ended;
  }

  #send(post: (id: number) => void): Promise<never> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      post(id);
    });
  }

  #receive(message: FromThread): void {
    if (message.kind === 'ready' || message.kind === 'refused') return;
    if (message.kind === 'disk') {
      this.#disk = message.state;
      return this.#onDisk?.(message.state);
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'failure') {
      const { message: text, unavailable: reason } = message;
      return waiting?.reject(reason === undefined ? new Error(text) : new StorageUnavailable(text, { reason }));
    }
    // The name of a query determines its result type; queries.ts connects the two.
    waiting?.resolve((message.kind === 'captured' ? message.outcome : message.value) as never);
  }

  #die(error: Error): void {
    this.#dead ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#dead);
    this.#waiting.clear();
  }
}

/** A thread that starts on first use. It is started again after it failed or ended. */
export class LazyThread {
  readonly #start: () => Promise<StorageThread>;
  #started: Promise<StorageThread> | undefined;
  #closed = false;

  constructor(start: () => Promise<StorageThread>) {
    this.#start = start;
  }

  async get(): Promise<StorageThread> {
    if (this.#closed) throw new Error('The storage thread has ended.');
    const started = this.#started;
    // Another call may already have started a new one.
    if ((await started)?.hasEnded === true && this.#started === started) this.#started = undefined;
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#started?.catch(() => undefined))?.close();
  }
}
