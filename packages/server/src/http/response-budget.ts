import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  readonly #socket: Socket;
  readonly #onEnd: (() => void)[] = [];
  #isMade = false;
  #hasEnded = false;

  constructor(budget: ResponseBudget, userId: number, response: ServerResponse, socket: Socket) {
    this.#budget = budget;
    this.#userId = userId;
    this.#response = response;
    this.#socket = socket;
  }

  /**
   * Reserves memory for stored bytes of the response. @throws ProblemError UNAVAILABLE when there is none, or the
   * client has left
   */
  readonly take = (rawBytes: number): void => {
    const hasEnded = this.#hasEnded || this.#response.destroyed || this.#socket.destroyed;
    const release = hasEnded ? undefined : this.#budget.take(this.#userId, rawBytes);
    if (release === undefined) throw overloaded();
    if (this.#onEnd.length === 0) onceEnded(this.#response, this.#socket, this.#end);
    this.#onEnd.push(release);
  };

  /** Calls back when the response has ended, immediately if it already has. */
  readonly whenDone = (done: () => void): void => {
    if (this.#onEnd.length === 0) onceEnded(this.#response, this.#socket, this.#end);
    this.#onEnd.push(done);
    if (this.#response.destroyed || this.#socket.destroyed) this.#end();
  };

  /** The handler has finished. Until then its reads use memory even if the client has left. */
  made(): void {
    this.#isMade = true;
    this.#settle();
  }

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#settle();
  };

  #settle(): void {
    if (this.#isMade && this.#hasEnded) for (const release of this.#onEnd.splice(0)) release();
  }
}

/** Responses that wait for a connection to close: one listener for all. */
const waitingFor = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once when a response has ended. Also watches the connection, because a pipelined response that is still
 * waiting gets no event of its own.
 */
function onceEnded(response: ServerResponse, socket: Socket, callback: () => void): void {
  const known = waitingFor.get(socket);
  const waiting = known ?? new Set();
  if (known === undefined) {
    waitingFor.set(socket, waiting);
    socket.once('close', () => waiting.forEach((end) => end()));
  }
  const end = (): void => {
    waiting.delete(end);
    response.off('close', end);
    callback();
  };
  waiting.add(end);
  response.once('close', end);
}
