import type { ServerResponse } from 'node:http';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { MAX_JSON_GROWTH, SMALL_ANSWER_BYTES } from './large-answer.ts';
import { overloaded } from './problem.ts';

const MIB = 1024 * 1024;

/**
 * Bytes that responses in progress may hold, over all connections, and at least four of the largest bodies. Small
 * responses have a budget of the same size, so that large ones never block lists and ordinary requests.
 */
const ANSWER_BUDGET_BYTES = 128 * MIB;
/** One user's maximum share of either budget. */
const SHARE_OF_ONE = 1 / 2;

/** Memory of a response with this many stored bytes: the bytes, and the text that is generated ahead of its reader. */
function heldBytes(rawBytes: number): number {
  return rawBytes + MAX_JSON_GROWTH * Math.min(rawBytes, SMALL_ANSWER_BYTES);
}

/** Memory for the responses of a server with bodies of at most `maxBodyBytes`. */
export class ResponseBudget {
  readonly #small = new MemoryBudget({ bytes: ANSWER_BUDGET_BYTES, maxShare: SHARE_OF_ONE });
  readonly #large: MemoryBudget;

  constructor(maxBodyBytes: number) {
    const fourAnswers = 4 * (maxBodyBytes + 2 * MAX_JSON_GROWTH * SMALL_ANSWER_BYTES);
    this.#large = new MemoryBudget({ bytes: Math.max(ANSWER_BUDGET_BYTES, fourAnswers), maxShare: SHARE_OF_ONE });
  }

  /**
   * Reserves memory for a response to a user with this many stored bytes. Returns the release function, or `undefined`
   * when there is no memory.
   */
  take(userId: number, rawBytes: number): (() => void) | undefined {
    const budget = rawBytes <= SMALL_ANSWER_BYTES ? this.#small : this.#large;
    const reservation = budget.reserve(userId);
    return reservation.grow(heldBytes(rawBytes)) ? () => reservation.release() : undefined;
  }
}

/** The memory of one response, from before its data is read until it has ended or its connection is closed. */
export class ResponseReservation {
  readonly #budget: ResponseBudget;
  readonly #userId: number;
  readonly #response: ServerResponse;
  readonly #onEnd: (() => void)[] = [];
  #isHandlerDone = false;

  constructor(budget: ResponseBudget, userId: number, response: ServerResponse) {
    this.#budget = budget;
    this.#userId = userId;
    this.#response = response;
    // Also follows the end of the connection, because a connection has one response at a time (parsed-connection.ts).
    response.once('close', () => this.#settle());
  }

  /**
   * Reserves memory for stored bytes of the response. @throws ProblemError UNAVAILABLE when there is none, or the
   * client has left
   */
  readonly take = (rawBytes: number): void => {
    const release = this.#response.destroyed ? undefined : this.#budget.take(this.#userId, rawBytes);
    if (release === undefined) throw overloaded();
    this.#onEnd.push(release);
  };

  /** Calls back when the response has ended, immediately if it already has. */
  readonly whenDone = (done: () => void): void => {
    this.#onEnd.push(done);
    this.#settle();
  };

  /** The handler has finished. Until then its reads use memory even if the client has left. */
  handlerDone(): void {
    this.#isHandlerDone = true;
    this.#settle();
  }

  #settle(): void {
    if (this.#isHandlerDone && this.#response.destroyed) for (const release of this.#onEnd.splice(0)) release();
  }
}
