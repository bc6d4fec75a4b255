import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { MOST_JSON_GROWTH } from './json-pieces.ts';
import { noRoom } from './problem.ts';
import { SMALL_ANSWER_BYTES } from './large-answer.ts';

const MIB = 1024 * 1024;

/**
 * Bytes that answers under way may hold, over all connections; never less than four of the largest bodies. Small answers have as much
 * for themselves: who fills the room for large ones leaves lists and ordinary requests alone.
 */
const ANSWER_BUDGET_BYTES = 128 * MIB;
/** How much of either room one person may have: never what everybody else needs. */
const SHARE_OF_ONE = 1 / 2;

/** What an answer made of so many stored bytes holds: these, and the text that is made of them ahead of its reader. */
function heldBytes(rawBytes: number): number {
  return rawBytes + MOST_JSON_GROWTH * Math.min(rawBytes, SMALL_ANSWER_BYTES);
}

/** The memory for the answers of a server that takes bodies of at most `maxBodyBytes`. */
export class AnswerRoom {
  readonly #small = new MemoryBudget({ bytes: ANSWER_BUDGET_BYTES, maxShare: SHARE_OF_ONE });
  readonly #large: MemoryBudget;

  constructor(maxBodyBytes: number) {
    const fourAnswers = 4 * (maxBodyBytes + 2 * MOST_JSON_GROWTH * SMALL_ANSWER_BYTES);
    this.#large = new MemoryBudget({ bytes: Math.max(ANSWER_BUDGET_BYTES, fourAnswers), maxShare: SHARE_OF_ONE });
  }

  /** Takes room for an answer to a person that is made of so many stored bytes; what gives it back, or `undefined` without room. */
  take(person: number, rawBytes: number): (() => void) | undefined {
    const budget = rawBytes <= SMALL_ANSWER_BYTES ? this.#small : this.#large;
    const reservation = budget.reserve(person);
    return reservation.grow(heldBytes(rawBytes)) ? () => reservation.release() : undefined;
  }
}

/** The memory that one answer holds, from before it is read from storage until it has ended or its connection is closed. */
export class AnswerHold {
  readonly #room: AnswerRoom;
  readonly #person: number;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #giveBack: (() => void)[] = [];
  #isMade = false;
  #isGone = false;

  /** `person`: the id of whoever is answered. */
  constructor(room: AnswerRoom, person: number, response: ServerResponse, socket: Socket) {
    this.#room = room;
    this.#person = person;
    this.#response = response;
    this.#socket = socket;
  }

  /**
   * Counts stored bytes that the answer is made of.
   * @throws ProblemError UNAVAILABLE when there is no room for them, or nobody left to answer
   */
  readonly take = (rawBytes: number): void => {
    const isGone = this.#isGone || this.#response.destroyed || this.#socket.destroyed;
    const giveBack = isGone ? undefined : this.#room.take(this.#person, rawBytes);
    if (giveBack === undefined) throw noRoom();
    if (this.#giveBack.length === 0) onceGone(this.#response, this.#socket, this.#gone);
    this.#giveBack.push(giveBack);
  };

  /** Calls back when the answer has ended, at once where that is so already. */
  readonly whenDone = (done: () => void): void => {
    if (this.#giveBack.length === 0) onceGone(this.#response, this.#socket, this.#gone);
    this.#giveBack.push(done);
    if (this.#response.destroyed || this.#socket.destroyed) this.#gone();
  };

  /** The handler has done its part. Before that, what it reads comes in even if the caller has hung up. */
  made(): void {
    this.#isMade = true;
    this.#settle();
  }

  readonly #gone = (): void => {
    this.#isGone = true;
    this.#settle();
  };

  #settle(): void {
    if (this.#isMade && this.#isGone) for (const giveBack of this.#giveBack.splice(0)) giveBack();
  }
}

/** Who waits for a connection to close: one listener for all of its answers. */
const waitingFor = new WeakMap<Socket, Set<() => void>>();

/** Tells once when an answer has ended. The connection counts too: an answer that waits behind another is not told of its end. */
function onceGone(response: ServerResponse, socket: Socket, tell: () => void): void {
  const known = waitingFor.get(socket);
  const waiting = known ?? new Set();
  if (known === undefined) {
    waitingFor.set(socket, waiting);
    socket.once('close', () => waiting.forEach((end) => end()));
  }
  const end = (): void => {
    waiting.delete(end);
    response.off('close', end);
    tell();
  };
  waiting.add(end);
  response.once('close', end);
}
