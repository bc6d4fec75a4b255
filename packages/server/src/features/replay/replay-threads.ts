import { LazyWorker } from '../../workers/worker-client.ts';
import { REPLAY_ERRORS, ReplayFailure, ThreadEnded } from './replay-failure.ts';
import type { ThreadFailure } from './replay-failure.ts';
import type { ReplayMethods } from './replay-thread.ts';
import type { OutboundRequest } from './send-request.ts';

/** Threads beside the first one. They run only if the first one ended. */
const OTHERS = 7;
/** So often requests of a user are in a thread that ends before this counts as their failure. Others rarely get there. */
const MAX_ENDS = 3;

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
  /** The threads of users who don't use the first one, and how many of their threads ended. */
  readonly #moved = new Map<number, { thread: LazyWorker<ReplayMethods, ThreadFailure>; ends: number }>();

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
   * Sends in the thread of the request's user. @throws ThreadEnded; ReplayFailure when this happened too often, because
   * the user's requests are then likely to cause it
   */
  async send(request: OutboundRequest, options: SendOptions) {
    const { userId } = request;
    const { thread, ends } = this.#placeOf(userId);
    try {
      return await thread.call('sendRequest', request, options);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      const other = this.#others[Math.floor(Math.random() * OTHERS)];
      // Of several requests in the thread, the first one moves the user.
      if (other !== undefined && this.#placeOf(userId).ends === ends)
        this.#moved.set(userId, { thread: other, ends: ends + 1 });
      throw ends + 1 < MAX_ENDS ? error : new ReplayFailure(ENDED_AGAIN);
    }
  }

  #placeOf(userId: number) {
    return this.#moved.get(userId) ?? { thread: this.#first, ends: 0 };
  }

  async close(): Promise<void> {
    await Promise.all([this.#first, ...this.#others].map((thread) => thread.terminate()));
  }
}
