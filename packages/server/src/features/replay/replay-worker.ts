import { Worker } from 'node:worker_threads';
import { ProblemError } from '../../http/problem.ts';
import { workerFile } from '../../workers/worker-file.ts';
import type { OutboundResponse, SendRequest } from './send-request.ts';
import type { FromThread, ToThread } from './worker-messages.ts';

const THREAD = workerFile(import.meta.url, './replay-thread.ts', './replay-thread.js');

/** As the operating system shows it; Linux keeps 15 characters. */
const THREAD_NAME = 'replay';

/** For messages and heads; bodies are outside V8's heap. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

interface Waiting {
  readonly resolve: (response: OutboundResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Sends replays on a separate thread, so that a busy target never delays captures. The thread starts with the first
 * replay.
 */
export class ReplayWorker {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  readonly sendRequest: SendRequest = (request, signal) => {
    const id = (this.#lastId += 1);
    const worker = (this.#worker ??= this.#start());
    const post = (message: ToThread): void => worker.postMessage(message, []);
    const abort = (): void => post({ id, isAborted: true });
    return new Promise<OutboundResponse>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      post({ id, request });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    }).finally(() => signal.removeEventListener('abort', abort));
  };

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(THREAD, { name: THREAD_NAME, resourceLimits: LIMITS });
    worker.unref();
    worker.on('message', (message: FromThread) => this.#settle(message));
    // The exit event follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(new ProblemError('INTERNAL'));
      this.#waiting.clear();
    });
    return worker;
  }

  #settle(message: FromThread): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('response' in message) {
      const { body, ...rest } = message.response;
      waiting?.resolve({ ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) });
    } else if ('problem' in message) {
      const { code, sentence } = message.problem;
      waiting?.reject(new ProblemError(code, { sentence }));
    } else waiting?.reject(message.failure);
  }
}
