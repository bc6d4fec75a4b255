import { parentPort } from 'node:worker_threads';
import { trimMemoryAfterFloods } from '../limits/memory-trimmer.ts';
import { RunningWork } from './background.ts';

/** The calls that a worker answers. `signal` aborts when the caller no longer waits. */
export type WorkerMethods = Readonly<Record<string, (input: never, signal: AbortSignal) => Promise<unknown>>>;

/** How errors cross the thread boundary, which does not keep their classes. */
export interface ErrorCodec<Failure> {
  /** Runs in the worker. The result is cloned. */
  readonly encode: (error: unknown) => Failure;
  /** Runs in the main thread. */
  readonly decode: (failure: Failure) => unknown;
  /** The error of calls that a worker did not answer before it ended. `cause` is what ended it, if known. */
  readonly ended: (cause: Error | undefined) => Error;
}

/** Messages to the worker. Each call has its own id. */
export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'abort'; readonly id: number };

/** Messages from the worker. `value` is `never`, because its type depends on the call. */
export type FromWorker<Failure, Update> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'answer'; readonly id: number; readonly value: never }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure }
  | { readonly kind: 'update'; readonly update: Update };

/** Larger buffers of an answer are transferred. A copy of a small one is cheaper. */
const MIN_TRANSFERRED_BYTES = 128 * 1024;

/** The buffers to transfer of an answer, of its objects and of its lists. Not those that an array shares with others. */
export function largeBuffersOf(answer: unknown): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const collect = (each: unknown): void => {
    if (ArrayBuffer.isView(each)) {
      if (each.byteLength === each.buffer.byteLength) collect(each.buffer);
    } else if (each instanceof ArrayBuffer) {
      if (each.byteLength >= MIN_TRANSFERRED_BYTES) buffers.add(each);
    } else if (typeof each === 'object' && each !== null) Object.values(each).forEach(collect);
  };
  collect(answer);
  return [...buffers];
}

type ErrorEncoder = Pick<ErrorCodec<unknown>, 'encode'>;

interface WorkerOptions {
  readonly methods: WorkerMethods;
  readonly errors: ErrorEncoder;
  /** Calls run one at a time instead of concurrently. */
  readonly inOrder?: boolean;
  /** Ends what the methods use. Runs as the last call. */
  readonly close?: () => Promise<void>;
}

/** The main thread's port. @throws Error when this is not a worker */
function mainPort(): NonNullable<typeof parentPort> {
  if (parentPort === null) throw new Error('This file runs as a worker thread.');
  return parentPort;
}

function post(message: unknown, buffers: ArrayBuffer[] = []): void {
  mainPort().postMessage(message, buffers);
}

/** Sends the main thread an update, which answers no call. See `WorkerClient.watch`. */
export function sendUpdate(update: unknown): void {
  post({ kind: 'update', update });
}

/** Reports that the worker can't start, and ends it. */
export function refuseStart(error: unknown, errors: ErrorEncoder): void {
  post({ kind: 'refused', failure: errors.encode(error) });
  mainPort().close();
}

/** Answers the main thread's calls until it closes the worker. */
export function serveCalls({ methods, errors, inOrder = false, close = async () => {} }: WorkerOptions): void {
  const running = new Map<number, AbortController>();

  async function answer({ id, name, input }: Extract<ToWorker, { kind: 'call' }>): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const method = name === 'close' ? close : methods[name];
      if (method === undefined) throw new Error(`The worker has no method ${name}.`);
      const value: unknown = await Reflect.apply(method, undefined, [input, controller.signal]);
      post({ kind: 'answer', id, value }, largeBuffersOf(value));
    } catch (error) {
      post({ kind: 'failure', id, failure: errors.encode(error) });
    } finally {
      running.delete(id);
    }
    if (name === 'close') mainPort().close();
  }

  const answers = new RunningWork();
  let last: Promise<void> = Promise.resolve();
  // Only the client of the same build posts messages.
  mainPort().on('message', (message: ToWorker) => {
    if (message.kind === 'abort') return running.get(message.id)?.abort();
    if (inOrder) last = last.then(() => answer(message));
    else if (message.name === 'close') void answers.ended().then(() => answer(message));
    else answers.add(answer(message));
  });
  trimMemoryAfterFloods();
  post({ kind: 'ready' });
}
