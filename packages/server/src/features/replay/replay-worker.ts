import { LazyWorker } from '../../workers/worker-client.ts';
import { workerFile } from '../../workers/worker-file.ts';
import { REPLAY_ERRORS } from './replay-failure.ts';
import type { ThreadFailure } from './replay-failure.ts';
import type { ReplayMethods } from './replay-thread.ts';
import type { SendRequest } from './send-request.ts';

/**
 * Sends replays on a separate thread, so that a busy target never delays captures. The thread starts with the first
 * replay.
 */
export class ReplayWorker {
  readonly #thread = new LazyWorker<ReplayMethods, ThreadFailure>({
    file: workerFile(import.meta.url, './replay-thread.ts', './replay-thread.js'),
    name: 'replay',
    // For messages and heads; bodies are outside V8's heap.
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
    errors: REPLAY_ERRORS,
    isDaemon: true,
  });

  readonly sendRequest: SendRequest = async (request, signal) => {
    const { body, ...rest } = await this.#thread.call('sendRequest', request, { signal });
    return { ...rest, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  };

  /** Starts the thread before the first replay. */
  start(): void {
    this.#thread.start();
  }

  close(): Promise<void> {
    return this.#thread.terminate();
  }
}
