import { LazyWorker } from '../../workers/worker-client.ts';
import { REPLAY_ERRORS, ReplayFailure, ThreadEnded } from './replay-failure.ts';
import type { ThreadFailure } from './replay-failure.ts';
import type { ReplayMethods } from './replay-thread.ts';
import type { OutboundRequest } from './send-request.ts';

/** Threads beside the first one. They run only if the first one ended. */
const OTHERS = 3;

const ENDED_AGAIN = 'The server could not send the request, because the thread that sends it ended.';

interface SendOptions {
  readonly signal: AbortSignal;
  readonly transfer: ArrayBuffer[];
}

export interface ReplayThreadsOptions {
  readonly file: URL;
  /** A thread ended unexpectedly. */
  readonly onEnded: (error: unknown) => void;
}

/**
 * The threads that send, so that a busy target never delays captures. They start with their first request. All users
 * share one. If it ends, because a request or a response hit a bug or filled its memory, the users whose requests it
 * had move to other threads at random. So the one who caused it does not end the requests of the others again.
 */
export class ReplayThreads {
  readonly #first: LazyWorker<ReplayMethods, ThreadFailure>;
  readonly #others: readonly LazyWorker<ReplayMethods, ThreadFailure>[];
  /** The threads of users who don't use the first one. */
  readonly #moved = new Map<number, LazyWorker<ReplayMethods, ThreadFailure>>();

  constructor({ file, onEnded }: ReplayThreadsOptions) {
    const create = (): LazyWorker<ReplayMethods, ThreadFailure> =>
      new LazyWorker({
        file,
        name: 'replay',
        // For messages and heads, also the largest ones of all deliveries in flight. Bodies are outside V8's heap.
        resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 192 },
        errors: REPLAY_ERRORS,
        onEnded,
        isDaemon: true,
      });
    this.#first = create();
    this.#others = Array.from({ length: OTHERS }, create);
  }

  start(): void {
    this.#first.start();
  }

  /**
   * Sends in the thread of the request's user. @throws ThreadEnded for the first thread; ReplayFailure for the others,
   * because the request is then likely to have caused it
   */
  async send(request: OutboundRequest, options: SendOptions) {
    const { userId } = request;
    const thread = this.#moved.get(userId) ?? this.#first;
    try {
      return await thread.call('sendRequest', request, options);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      const other = this.#others[Math.floor(Math.random() * OTHERS)];
      const isMoved = (this.#moved.get(userId) ?? this.#first) !== thread;
      if (other !== undefined && !isMoved) this.#moved.set(userId, other);
      throw thread === this.#first ? error : new ReplayFailure(ENDED_AGAIN);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#first, ...this.#others].map((thread) => thread.terminate()));
  }
}
