import { Worker } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';
import type { ErrorCodec, FromWorker, ToWorker, WorkerMethods } from './worker-server.ts';

interface WorkerOptions<Failure> {
  readonly file: URL;
  /** As the operating system shows it; Linux keeps 15 characters. */
  readonly name: string;
  readonly resourceLimits: ResourceLimits;
  readonly errors: ErrorCodec<Failure>;
  /** Start parameters, which the worker reads as `workerData`. */
  readonly data?: unknown;
  /** The process may end while the worker runs. */
  readonly isDaemon?: boolean;
  /** The worker ended because of an uncaught error or a full heap. */
  readonly onCrash?: ((error: Error) => void) | undefined;
}

interface CallOptions {
  /** Buffers that are transferred instead of copied. */
  readonly transfer?: ArrayBuffer[];
  /** Aborts the signal that the worker's method received. */
  readonly signal?: AbortSignal;
}

/** The main thread's side of a worker. Each call is a message and a promise. `Methods` is what the worker serves. */
export class WorkerClient<Methods extends WorkerMethods, Failure, Update = never> {
  readonly #worker: Worker;
  readonly #errors: ErrorCodec<Failure>;
  readonly #pending = new Map<number, Pick<PromiseWithResolvers<never>, 'resolve' | 'reject'>>();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #lastUpdate: Update | undefined;
  #onUpdate: ((update: Update) => void) | undefined;
  #dead: Error | undefined;

  /** Starts a worker and waits until it is ready. @throws what the worker refused to start with */
  static async start<Methods extends WorkerMethods, Failure, Update = never>(
    options: WorkerOptions<Failure>,
  ): Promise<WorkerClient<Methods, Failure, Update>> {
    const ready = Promise.withResolvers<void>();
    const client = new WorkerClient<Methods, Failure, Update>(options, ready);
    await ready.promise;
    return client;
  }

  private constructor(options: WorkerOptions<Failure>, ready: PromiseWithResolvers<void>) {
    const { file, name, resourceLimits, errors, data, isDaemon = false, onCrash } = options;
    this.#errors = errors;
    this.#worker = new Worker(file, { workerData: data, name, resourceLimits });
    if (isDaemon) this.#worker.unref();
    this.#worker.on('message', (message: FromWorker<Failure, Update>) => {
      if (message.kind === 'ready') ready.resolve();
      else if (message.kind === 'refused') ready.reject(errors.decode(message.failure));
      else this.#receive(message);
    });
    this.#worker.on('error', (thrown) => {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.#failCalls(errors.ended(error));
      onCrash?.(error);
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#failCalls(errors.ended(undefined));
        ready.reject(this.#dead);
        resolve();
      });
    });
  }

  get hasEnded(): boolean {
    return this.#dead !== undefined;
  }

  /** Runs a method in the worker. Rejects with the method's error, or when the worker ends. */
  call<Name extends keyof Methods & string>(
    name: Name,
    input: Parameters<Methods[Name]>[0],
    options: CallOptions = {},
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    return this.#send(name, input, options);
  }

  /** Calls back with the latest update of the worker, and each further one. */
  watch(onUpdate: (update: Update) => void): void {
    this.#onUpdate = onUpdate;
    if (this.#lastUpdate !== undefined) onUpdate(this.#lastUpdate);
  }

  /** Lets the worker finish its calls and end. */
  async close(): Promise<void> {
    if (this.#dead === undefined) await this.#send('close', undefined, {}).catch(() => undefined);
    await this.#exited;
  }

  /** Ends the worker at once. Its calls are rejected. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  async #send<Result>(name: string, input: unknown, { transfer = [], signal }: CallOptions): Promise<Result> {
    if (this.#dead !== undefined) throw this.#dead;
    const id = (this.#lastId += 1);
    const post = (message: ToWorker): void =>
      this.#worker.postMessage(message, message.kind === 'call' ? transfer : []);
    const abort = (): void => post({ kind: 'abort', id });
    const answered = new Promise<Result>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    post({ kind: 'call', id, name, input });
    if (signal === undefined) return answered;
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    return answered.finally(() => signal.removeEventListener('abort', abort));
  }

  #receive(message: Extract<FromWorker<Failure, Update>, { kind: 'answer' | 'failure' | 'update' }>): void {
    if (message.kind === 'update') {
      this.#lastUpdate = message.update;
      return this.#onUpdate?.(message.update);
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'answer') pending?.resolve(message.value);
    else pending?.reject(this.#errors.decode(message.failure));
  }

  #failCalls(error: Error): void {
    this.#dead ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#dead);
    this.#pending.clear();
  }
}

/** A worker that starts on first use, and again after it failed or ended. */
export class LazyWorker<Methods extends WorkerMethods, Failure> {
  readonly #options: WorkerOptions<Failure>;
  #started: Promise<WorkerClient<Methods, Failure>> | undefined;
  #closed = false;

  constructor(options: WorkerOptions<Failure>) {
    this.#options = options;
  }

  /** Starts the worker before its first call, which is then faster. A failure shows at that call. */
  start(): void {
    this.#get().catch(() => undefined);
  }

  /** Runs a method in the worker; see `WorkerClient`. */
  async call<Name extends keyof Methods & string>(
    name: Name,
    input: Parameters<Methods[Name]>[0],
    options?: CallOptions,
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    return (await this.#get()).call(name, input, options);
  }

  /** Lets the worker finish its calls and end. It does not start again. */
  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#started?.catch(() => undefined))?.close();
  }

  /** Ends the worker at once. The next use starts another one. */
  async terminate(): Promise<void> {
    await (await this.#started?.catch(() => undefined))?.terminate();
  }

  async #get(): Promise<WorkerClient<Methods, Failure>> {
    if (this.#closed) throw this.#options.errors.ended(undefined);
    const started = this.#started;
    // Another call may already have started a new one.
    if ((await started)?.hasEnded === true && this.#started === started) this.#started = undefined;
    this.#started ??= WorkerClient.start<Methods, Failure>(this.#options).catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }
}
