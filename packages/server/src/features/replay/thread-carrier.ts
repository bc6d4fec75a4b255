import { Worker } from 'node:worker_threads';
import { ProblemError } from '../../http/problem.ts';
import { workerFile } from '../../workers/worker-file.ts';
import type { Carried, Carry } from './carry.ts';
import type { FromThread, ToThread } from './thread-messages.ts';

const THREAD = workerFile(import.meta.url, './replay-thread.ts', './replay-thread.js');

/** As the operating system shows it; Linux keeps 15 characters. */
const THREAD_NAME = 'replay';

/** For messages and heads; bodies are outside V8's heap. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

interface Waiting {
  readonly resolve: (carried: Carried) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Sends replays on a separate thread, so that a busy target never delays captures. The thread starts with the first
 * replay.
 */
export class ThreadCarrier {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  readonly carry: Carry = (errand, gone) => {
    const id = (this.#lastId += 1);
    const worker = (this.#worker ??= this.#start());
    const post = (message: ToThread): void => worker.postMessage(message, []);
    const giveUp = (): void => post({ id, isGone: true });
    return new Promise<Carried>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      post({ id, errand });
      if (gone.aborted) giveUp();
      else gone.addEventListener('abort', giveUp, { once: true });
    }).finally(() => gone.removeEventListener('abort', giveUp));
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
    if ('carried' in message) {
      const { body, ...rest } = message.carried;
      waiting?.resolve({ ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) });
    } else if ('problem' in message) {
      const { code, sentence } = message.problem;
      waiting?.reject(new ProblemError(code, { sentence }));
    } else waiting?.reject(message.failure);
  }
}
