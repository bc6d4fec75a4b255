import type { ProblemCode } from '@creel/contract';
import type { Socket } from 'node:net';
import { BodyBuffer, copyBody, freeBuffer } from './body-buffer.ts';
import { FULL_READ_BYTES, turnOwner } from './loop-turns.ts';
import type { LoopTurns } from './loop-turns.ts';
import type { Reservation } from '../limits/memory-budget.ts';
import { linger } from './read-body.ts';
import { rawCaptured, rawRefusal } from './raw-response.ts';
import { readPlainHead } from './plain-request.ts';
import type { PlainHead } from './plain-request.ts';

/** Maximum requests in flight per connection. Further ones wait in the socket, which stops reading. */
const MAX_IN_FLIGHT = 16;
/** Requests of one connection that are read in its turn. When data arrives outside its turn, one is read. */
const MAX_PER_TURN = 16;
/** The end of a body of this size takes about 0.1 ms of work, which waits for the connection's turn. */
const LARGE_BODY_BYTES = 64 * 1024;
/** A sender with this many unread bytes of responses is not read either. */
const MAX_UNREAD_BYTES = 16 * 1024;

/** Receives the response to a capture. One of the two methods is called once. */
export interface CaptureReply {
  /** The capture is on disk, with this index if one is assigned. */
  captured(index?: number): void;
  /** The capture was not stored. `retryAfter`: seconds. */
  refused(code: ProblemCode, retryAfter?: number): void;
}

/** The request may be captured. `capture` takes ownership of its whole body and the reservation. */
export interface Admission {
  /** Covers the bytes of the body that have arrived. */
  readonly reservation: Reservation;
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

export interface PlainTraffic {
  /**
   * Decides about a request from its head, before its body is read. `bytesAtHand`: bytes of the body that have arrived.
   */
  readonly admit: (head: PlainHead, socket: Socket, bytesAtHand: number) => Verdict | Promise<Verdict>;
  /** False after the server stops; each connection then ends with its next response. */
  readonly isOpen: () => boolean;
  /**
   * Passes a connection to Node's parser permanently, with all unread bytes back in the socket. `readBuffer`: their
   * memory.
   */
  readonly handOver: (socket: Socket, readBuffer: ArrayBufferLike | undefined) => void;
  readonly turns: LoopTurns;
  /** Milliseconds that a new connection may be silent, and that any may be idle between two requests. */
  readonly silenceMs: number;
  readonly keepAliveMs: number;
  /** Milliseconds for a body to arrive. */
  readonly bodyMs: number;
}

/** A request whose head was read and whose body is still arriving. */
interface Incoming {
  readonly reply: PlainReply;
  /** `undefined` while the endpoint is being looked up. */
  admission: Admission | undefined;
  /** The parts that arrived, if the body did not arrive at once. */
  body: BodyBuffer | undefined;
  received: number;
  readonly length: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Reads a connection while it sends plain requests, at half the cost of Node's parser
 * (docs/decisions/0014-plain-requests.md). Requests may arrive in parts and ahead of their responses; they are answered
 * in order. At the first bytes that are not a plain request the connection passes to the parser.
 *
 * A request is looked up (`#incoming` without an admission), then its body arrives (with one), then it waits in
 * `#replies` for its answer. While it is looked up, while a large body waits for its turn, and while too many wait,
 * the socket is held. A rejected body is skipped. The connection ends in one of two ways: `#isSwitching` passes it to
 * the parser after the last answer, and `#isLast` closes it then.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #traffic: PlainTraffic;
  readonly #turnOwner: string;
  /** Unanswered requests, in order. The last one's body may still be arriving. */
  readonly #replies: PlainReply[] = [];
  #incoming: Incoming | undefined;
  /** Remaining bytes of a rejected request's body. */
  #toSkip = 0;
  #hasSentRequest = false;
  /** The memory of the last read, which the socket shares with nothing else. */
  #readBuffer: ArrayBufferLike | undefined;
  /** The socket is paused and holds unread bytes. */
  #isHeld = false;
  /** A large body is complete and waits for its turn to be captured. */
  #isFinishing = false;
  /** The socket was resumed in this connection's turn. */
  #hasTurn = false;
  /** The next bytes are not a plain request: the parser gets them after the last response. */
  #isSwitching = false;
  /** The sender has closed its sending side. */
  #hasEnded = false;
  /** No further request is read. */
  #isLast = false;

  constructor(socket: Socket, traffic: PlainTraffic) {
    this.#socket = socket;
    this.#traffic = traffic;
    this.#turnOwner = turnOwner(socket);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout);
    // 'close' follows every error.
    socket.on('error', ignore).on('close', this.#onClose);
    socket.setTimeout(traffic.silenceMs);
  }

  /** No request is in flight or arriving. */
  get isIdle(): boolean {
    return this.#replies.length === 0;
  }

  /** No complete request waits for its response. */
  get canClose(): boolean {
    return this.#replies.length === (this.#incoming === undefined ? 0 : 1);
  }

  readonly #onData = (bytes: Buffer): void => {
    const { buffer, length } = bytes;
    if (length === buffer.byteLength) this.#readBuffer = buffer;
    if (this.#read(bytes) && buffer === this.#readBuffer) freeBuffer(buffer);
    // By default Node reads up to 2 MiB of one socket before the next one.
    if (length >= FULL_READ_BYTES && !this.#isHeld) this.#readInTurn();
  };

  #readInTurn(): void {
    this.#socket.pause();
    this.#traffic.turns.runRead(this.#turnOwner, () => {
      // Otherwise #continue or the parser resumes it.
      if (!this.#isHeld) this.#socket.resume();
    });
  }

  /** False when the rest of the bytes is back in the socket. If true, nothing refers to the bytes any more. */
  #read(bytes: Buffer): boolean {
    let rest = bytes;
    let mayBegin = this.#hasTurn ? MAX_PER_TURN : 1;
    this.#hasTurn = false;
    while (rest.length > 0) {
      const incoming = this.#incoming;
      if (this.#toSkip > 0) rest = this.#skip(rest);
      else if (incoming?.admission !== undefined) rest = this.#readBody(incoming, incoming.admission, rest);
      // Data after the last request is read and discarded, because closing a socket with unread data resets it.
      else if (this.#isLast && incoming === undefined) return true;
      else if (incoming !== undefined || this.#isFinishing || this.#isFull()) {
        this.#hold(rest);
        return false;
      } else if (mayBegin === 0) {
        this.#hold(rest);
        this.#continue();
        return false;
      } else {
        const head = this.#traffic.isOpen() ? readPlainHead(rest) : undefined;
        if (head === undefined) {
          this.#switchToParser(rest);
          return false;
        }
        rest = rest.subarray(head.headLength);
        mayBegin -= 1;
        this.#begin(head, Math.min(head.bodyLength, rest.length));
      }
    }
    return true;
  }

  #isFull(): boolean {
    return this.#replies.length >= MAX_IN_FLIGHT || this.#socket.writableLength > MAX_UNREAD_BYTES;
  }

  #begin(head: PlainHead, bytesAtHand: number): void {
    if (!this.#hasSentRequest) this.#socket.setTimeout(this.#traffic.keepAliveMs);
    this.#hasSentRequest = true;
    this.#isLast = !head.keepsAlive;
    const reply = new PlainReply(head.keepsAlive, this.#flush);
    this.#replies.push(reply);
    const length = head.bodyLength;
    const incoming: Incoming = { reply, admission: undefined, body: undefined, received: 0, length, timer: undefined };
    const verdict = this.#traffic.admit(head, this.#socket, bytesAtHand);
    if (!(verdict instanceof Promise)) return this.#decide(incoming, verdict);
    this.#incoming = incoming;
    void verdict.then((late) => {
      this.#incoming = undefined;
      if (!this.#socket.destroyed) this.#decide(incoming, late);
      else if ('reservation' in late) late.reservation.release();
      this.#continue();
    });
  }

  #decide(incoming: Incoming, verdict: Verdict): void {
    if (!('reservation' in verdict)) return this.#refuse(incoming, verdict);
    if (incoming.length === 0) return verdict.capture(null, incoming.reply);
    incoming.admission = verdict;
    this.#incoming = incoming;
    // The sender closed its side while the endpoint was looked up.
    if (this.#hasEnded) return this.#breakOff('BAD_REQUEST');
    if (verdict.reservation.bytes < incoming.length)
      incoming.timer = setTimeout(() => this.#breakOff('REQUEST_TIMEOUT'), this.#traffic.bodyMs);
  }

  /** Reads the bytes of the current body and returns the rest. */
  #readBody(incoming: Incoming, { reservation, capture }: Admission, bytes: Buffer): Buffer {
    const part = bytes.subarray(0, incoming.length - incoming.received);
    const received = incoming.received + part.length;
    if (received > reservation.bytes && !reservation.grow(received - reservation.bytes)) {
      this.#refuse(incoming, { code: 'CAPTURE_UNAVAILABLE', retryAfter: 1 });
      return bytes;
    }
    incoming.received = received;
    if (part.length < incoming.length) (incoming.body ??= new BodyBuffer(incoming.length)).add(part);
    if (received === incoming.length) {
      this.#endIncoming(incoming);
      const body = incoming.body;
      if (body === undefined) capture(copyBody(part), incoming.reply);
      else if (received < LARGE_BODY_BYTES) capture(body.take(), incoming.reply);
      else {
        this.#isFinishing = true;
        this.#traffic.turns.run(this.#turnOwner, () => {
          this.#isFinishing = false;
          capture(body.take(), incoming.reply);
          this.#continue();
        });
      }
    }
    return bytes.subarray(part.length);
  }

  #skip(bytes: Buffer): Buffer {
    const skipped = Math.min(this.#toSkip, bytes.length);
    this.#toSkip -= skipped;
    return bytes.subarray(skipped);
  }

  /** Answers a request without capturing it, and discards the rest of its body. */
  #refuse(incoming: Incoming, { code, retryAfter, close }: Refusal): void {
    this.#endIncoming(incoming);
    incoming.body?.clear();
    incoming.admission?.reservation.release();
    this.#toSkip = incoming.length - incoming.received;
    if (close) this.#isLast = incoming.reply.isLast = true;
    incoming.reply.refused(code, retryAfter);
  }

  /** The current body is incomplete, so the connection ends. */
  #breakOff(code: ProblemCode): void {
    if (this.#incoming !== undefined) this.#refuse(this.#incoming, { code, close: true });
  }

  #endIncoming(incoming: Incoming): void {
    clearTimeout(incoming.timer);
    this.#incoming = undefined;
  }

  /** Writes the responses that are ready, in the order of the requests. */
  readonly #flush = (): void => {
    const replies = this.#replies;
    let text = '';
    let isLast = false;
    for (let reply = replies[0]; reply?.isReady === true && !isLast; reply = replies[0]) {
      replies.shift();
      isLast = reply.isLast || (replies.length === 0 && !this.#traffic.isOpen());
      text += reply.text(!isLast);
    }
    if (text === '' || this.#socket.destroyed) return;
    this.#socket.write(text, 'latin1', this.#continue);
    if (isLast) this.#end();
    else if (replies.length > 0) this.#continue();
    else if (this.#isSwitching) this.#handOver();
    else if (this.#hasEnded) this.#end();
    else this.#continue();
  };

  /** Returns unhandled bytes to the socket, so that the end of the connection is not reported before them. */
  #hold(bytes: Buffer): void {
    this.#isHeld = true;
    this.#socket.pause();
    this.#socket.unshift(bytes);
  }

  /** Continues to read when there is room for another request, after the turns of the other connections. */
  readonly #continue = (): void => {
    if (!this.#isHeld || this.#isSwitching || this.#isFull()) return;
    this.#isHeld = false;
    this.#traffic.turns.runRead(this.#turnOwner, () => {
      this.#hasTurn = true;
      this.#socket.resume();
    });
  };

  #switchToParser(bytes: Buffer): void {
    this.#isSwitching = true;
    this.#hold(bytes);
    if (this.#replies.length === 0) this.#handOver();
  }

  #handOver(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout);
    socket.off('error', ignore).off('close', this.#onClose);
    socket.setTimeout(0);
    socket.pause();
    this.#traffic.handOver(socket, this.#readBuffer);
    socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#incoming?.admission !== undefined) this.#breakOff('BAD_REQUEST');
    else if (this.#replies.length === 0) this.#end();
  };

  readonly #onTimeout = (): void => {
    if (this.#replies.length > 0) return;
    if (!this.#hasSentRequest) this.#socket.write(rawRefusal('REQUEST_TIMEOUT', { keepsAlive: false }));
    this.#socket.destroySoon();
  };

  readonly #onClose = (): void => {
    if (this.#isHeld && this.#readBuffer !== undefined) freeBuffer(this.#readBuffer);
    const incoming = this.#incoming;
    if (incoming?.admission === undefined) return;
    this.#endIncoming(incoming);
    incoming.body?.clear();
    incoming.admission.reservation.release();
  };

  /**
   * Ends the connection. If the sender is still sending, reads for a moment, because a reset could discard the
   * response.
   */
  #end(): void {
    const socket = this.#socket;
    this.#isLast = true;
    if (this.#toSkip === 0 || this.#hasEnded) {
      socket.end(() => socket.destroySoon());
      return;
    }
    socket.end();
    linger(socket, () => socket.destroy());
  }
}

/** The position of one request in the responses of its connection. */
class PlainReply implements CaptureReply {
  readonly #flush: () => void;
  /** The connection ends with this response. */
  isLast: boolean;
  isReady = false;
  #index: number | undefined;
  #refusal: { readonly code: ProblemCode; readonly retryAfter: number | undefined } | undefined;

  constructor(keepsAlive: boolean, flush: () => void) {
    this.isLast = !keepsAlive;
    this.#flush = flush;
  }

  captured(index?: number): void {
    this.#index = index;
    this.isReady = true;
    this.#flush();
  }

  refused(code: ProblemCode, retryAfter?: number): void {
    this.#refusal = { code, retryAfter };
    this.isReady = true;
    this.#flush();
  }

  text(keepsAlive: boolean): string {
    if (this.#refusal === undefined) return rawCaptured(this.#index, keepsAlive);
    const { code, retryAfter } = this.#refusal;
    return rawRefusal(code, { retryAfter, keepsAlive });
  }
}

function ignore(): void {}
