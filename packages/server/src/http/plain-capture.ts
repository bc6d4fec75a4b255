import type { ProblemCode } from '@creel/contract';
import { BodyBuffer, copyBody } from './body-buffer.ts';
import type { Reservation } from '../limits/memory-budget.ts';
import { rawCaptured, rawRefusal } from './raw-response.ts';

/** From this size on, the end of a body takes 0.1 ms of work or more, which waits for the connection's turn. */
const DEFERRED_BODY_BYTES = 64 * 1024;

/** Receives the response to a capture. One of the two methods is called once. */
export interface CaptureReply {
  /** The capture is on disk, with this index if one is assigned. */
  captured(index?: number): void;
  /** The capture was not stored. */
  refused(refusal: Refusal): void;
}

/** The request may be captured. `capture` takes ownership of its whole body and the reservation. */
export interface Admission {
  /** Covers the bytes of the body that have arrived. */
  readonly reservation: Reservation;
  /** The response if there is no memory for the rest of the body. */
  readonly refuseForMemory: () => Refusal;
  readonly capture: (body: Buffer | null, reply: CaptureReply) => void;
}

export interface Refusal {
  readonly code: ProblemCode;
  /** Seconds. */
  readonly retryAfter?: number;
  /** The connection ends with this response. */
  readonly close?: true;
}

export type Verdict = Admission | Refusal;

/** The body of an admitted request, while it arrives. It ends with `capture` or with `discard`. */
export class ArrivingBody {
  readonly reply: PlainReply;
  readonly #length: number;
  readonly #admission: Admission;
  #left: number;
  #timer: NodeJS.Timeout | undefined;
  /** The body, if it arrived at once. Otherwise its parts. */
  #whole: Buffer | undefined;
  #parts: BodyBuffer | undefined;

  constructor(reply: PlainReply, length: number, admission: Admission) {
    this.reply = reply;
    this.#length = length;
    this.#left = length;
    this.#admission = admission;
  }

  /** Calls `onLate` if the body is incomplete after this many milliseconds. */
  limitTime(milliseconds: number, onLate: () => void): void {
    if (this.#admission.reservation.bytes < this.#length) this.#timer = setTimeout(onLate, milliseconds);
  }

  /** Bytes that have not arrived yet. */
  get left(): number {
    return this.#left;
  }

  /** It arrived in parts, and the work at its end waits for the connection's turn. */
  get isLarge(): boolean {
    return this.#parts !== undefined && this.#length >= DEFERRED_BODY_BYTES;
  }

  /** Adds the next bytes. False if there is no memory for them. */
  add(part: Buffer): boolean {
    const { reservation } = this.#admission;
    const missing = this.#length - this.#left + part.length - reservation.bytes;
    if (missing > 0 && !reservation.grow(missing)) return false;
    this.#left -= part.length;
    if (part.length === this.#length) this.#whole = copyBody(part);
    else (this.#parts ??= new BodyBuffer(this.#length)).add(part);
    if (this.#left === 0) clearTimeout(this.#timer);
    return true;
  }

  /** Passes on the complete body. */
  capture(): void {
    this.#admission.capture(this.#whole ?? this.#parts?.take() ?? null, this.reply);
  }

  refuseForMemory(): Refusal {
    return this.#admission.refuseForMemory();
  }

  discard(): void {
    clearTimeout(this.#timer);
    this.#parts?.clear();
    this.#admission.reservation.release();
  }
}

/** The position of one request in the responses of its connection. */
export class PlainReply implements CaptureReply {
  readonly #flush: () => void;
  /** The connection ends with this response. */
  isLast: boolean;
  isReady = false;
  #index: number | undefined;
  #refusal: Refusal | undefined;

  constructor(keepsAlive: boolean, flush: () => void) {
    this.isLast = !keepsAlive;
    this.#flush = flush;
  }

  captured(index?: number): void {
    this.#index = index;
    this.isReady = true;
    this.#flush();
  }

  refused(refusal: Refusal): void {
    this.#refusal = refusal;
    this.isReady = true;
    this.#flush();
  }

  text(keepsAlive: boolean): string {
    if (this.#refusal === undefined) return rawCaptured(this.#index, keepsAlive);
    const { code, retryAfter } = this.#refusal;
    return rawRefusal(code, { retryAfter, keepsAlive });
  }
}
