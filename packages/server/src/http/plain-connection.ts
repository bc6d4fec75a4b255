import type { Socket } from 'node:net';
import { freeBuffer, freeUnread, unreadBytesOf } from './body-buffer.ts';
import { FULL_READ_BYTES, turnOwner } from './loop-turns.ts';
import type { LoopTurns } from './loop-turns.ts';
import { ArrivingBody, PlainReply, readPlainHead } from './plain-request.ts';
import type { PlainHead, Verdict } from './plain-request.ts';
import { rawRefusal } from './raw-response.ts';
import type { Refusal } from './problem.ts';
import { linger } from './read-body.ts';

/** Maximum requests in flight per connection. Further ones wait in the socket, which stops reading. */
const MAX_IN_FLIGHT = 16;
/** Requests of one connection that are read in its turn. When data arrives outside its turn, one is read. */
const MAX_PER_TURN = 16;
/** A sender with this many unread bytes of responses is not read either. */
const MAX_UNREAD_BYTES = 16 * 1024;

export interface PlainConnectionOptions {
  /** Decides from the head, before the body is read. `bytesAtHand`: bytes of the body that have arrived. */
  readonly admit: (head: PlainHead, socket: Socket, bytesAtHand: number) => Verdict | Promise<Verdict>;
  /** False after the server stops; each connection then ends with its next response. */
  readonly isOpen: () => boolean;
  /** Passes the connection to Node's parser, with unread bytes back in the socket. `readBuffer`: their memory. */
  readonly handOver: (socket: Socket, readBuffer: ArrayBufferLike | undefined) => void;
  readonly turns: LoopTurns;
  /** Milliseconds that a new connection may be silent, and that any may be idle between two requests. */
  readonly silenceMs: number;
  readonly keepAliveMs: number;
  /** Milliseconds for a body to arrive. */
  readonly bodyMs: number;
}

/**
 * Reads a connection while it sends plain requests, at half the cost of Node's parser
 * (docs/decisions/0014-plain-requests.md). Requests may arrive in parts and ahead of their responses, which are sent in
 * order. At the first bytes that are not a plain request, the connection passes to the parser.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #options: PlainConnectionOptions;
  readonly #turnOwner: string;
  /** Unanswered requests, in order. The last one's body may still be arriving. */
  readonly #replies: PlainReply[] = [];
  /** What must happen before more is read: the lookup of the last request, or the turn of its large body. */
  #waitsFor: 'lookup' | 'turn' | undefined;
  #body: ArrivingBody | undefined;
  /** Remaining bytes of a rejected request's body. */
  #toSkip = 0;
  /** What follows the last response. Then no further request is read here. */
  #ending: 'parser' | 'close' | undefined;
  #hasSentRequest = false;
  /** The sender has closed its sending side. */
  #hasEnded = false;
  /** The memory of the last read, which the socket shares with nothing else. */
  #readBuffer: ArrayBufferLike | undefined;
  /** The socket is paused and holds unread bytes; see `#waitsFor` and `#isFull`. */
  #isHeld = false;
  /** The socket was resumed in this connection's turn. */
  #hasTurn = false;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#turnOwner = turnOwner(socket);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout);
    // 'close' follows every error.
    socket.on('error', ignore).on('close', this.#onClose);
    socket.setTimeout(options.silenceMs);
  }

  /** No request is in flight or arriving. */
  get isIdle(): boolean {
    return this.#replies.length === 0;
  }

  /** No complete request waits for its response. */
  get canClose(): boolean {
    const isIncomplete = this.#body !== undefined || this.#waitsFor === 'lookup';
    return this.#replies.length === (isIncomplete ? 1 : 0);
  }

  get unreadBytes(): number {
    return unreadBytesOf(this.#socket, this.#readBuffer);
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
    this.#options.turns.runRead(this.#turnOwner, () => {
      // Otherwise #continue or the parser resumes it.
      if (!this.#isHeld) this.#socket.resume();
    });
  }

  /** False when the rest of the bytes is back in the socket. If true, nothing refers to the bytes any more. */
  #read(bytes: Buffer): boolean {
    // A position instead of views of the rest: a view costs as much as a search of the head.
    let at = 0;
    let mayBegin = this.#hasTurn ? MAX_PER_TURN : 1;
    this.#hasTurn = false;
    while (at < bytes.length) {
      if (this.#toSkip > 0) at += this.#skip(bytes.length - at);
      else if (this.#body !== undefined) at += this.#readBody(this.#body, bytes, at);
      // Data after the last request is read and discarded, because closing a socket with unread data resets it.
      else if (this.#ending === 'close' && this.#waitsFor !== 'lookup') return true;
      else if (this.#waitsFor !== undefined || this.#isFull()) {
        this.#hold(bytes.subarray(at));
        return false;
      } else if (mayBegin === 0) {
        this.#hold(bytes.subarray(at));
        this.#continue();
        return false;
      } else {
        const head = this.#options.isOpen() ? readPlainHead(bytes, at) : undefined;
        if (head === undefined) {
          this.#switchToParser(bytes.subarray(at));
          return false;
        }
        at += head.headLength;
        mayBegin -= 1;
        this.#begin(head, Math.min(head.bodyLength, bytes.length - at));
      }
    }
    return true;
  }

  #isFull(): boolean {
    return this.#replies.length >= MAX_IN_FLIGHT || this.#socket.writableLength > MAX_UNREAD_BYTES;
  }

  #begin(head: PlainHead, bytesAtHand: number): void {
    if (!this.#hasSentRequest) this.#socket.setTimeout(this.#options.keepAliveMs);
    this.#hasSentRequest = true;
    if (!head.keepsAlive) this.#ending = 'close';
    const reply = new PlainReply(head.keepsAlive, this.#flush);
    this.#replies.push(reply);
    const verdict = this.#options.admit(head, this.#socket, bytesAtHand);
    if (!(verdict instanceof Promise)) return this.#decide(reply, head.bodyLength, verdict);
    this.#waitsFor = 'lookup';
    void verdict.then((late) => {
      this.#waitsFor = undefined;
      if (!this.#socket.destroyed) this.#decide(reply, head.bodyLength, late);
      else if ('reservation' in late) late.reservation.release();
      this.#continue();
    });
  }

  #decide(reply: PlainReply, bodyLength: number, verdict: Verdict): void {
    if (!('reservation' in verdict)) return this.#refuse(reply, bodyLength, verdict);
    if (bodyLength === 0) return verdict.capture(null, reply);
    this.#body = new ArrivingBody(reply, bodyLength, verdict);
    // The sender closed its side while the endpoint was looked up.
    if (this.#hasEnded) return this.#refuseBody({ code: 'BAD_REQUEST', close: true });
    this.#body.limitTime(this.#options.bodyMs, () => this.#refuseBody({ code: 'REQUEST_TIMEOUT', close: true }));
  }

  /** Returns how many bytes belong to the body and have been read. */
  #readBody(body: ArrivingBody, bytes: Buffer, from: number): number {
    const length = Math.min(body.left, bytes.length - from);
    if (!body.add(bytes, from, from + length)) {
      this.#refuseBody(body.refuseForMemory());
      return 0;
    }
    if (body.left === 0) this.#capture(body);
    return length;
  }

  #capture(body: ArrivingBody): void {
    this.#body = undefined;
    if (!body.isLarge) return body.capture();
    this.#waitsFor = 'turn';
    this.#options.turns.run(this.#turnOwner, () => {
      this.#waitsFor = undefined;
      body.capture();
      this.#continue();
    });
  }

  /** Returns how many bytes are skipped. */
  #skip(available: number): number {
    const skipped = Math.min(this.#toSkip, available);
    this.#toSkip -= skipped;
    return skipped;
  }

  /** Answers a request without capturing it. `unread`: bytes of its body that are skipped. */
  #refuse(reply: PlainReply, unread: number, refusal: Refusal): void {
    this.#toSkip = unread;
    if (refusal.close) {
      this.#ending = 'close';
      reply.isLast = true;
    }
    reply.refused(refusal);
  }

  /** Answers the request whose body is arriving, and discards the body. */
  #refuseBody(refusal: Refusal): void {
    const body = this.#body;
    if (body === undefined) return;
    this.#body = undefined;
    body.discard();
    this.#refuse(body.reply, body.left, refusal);
  }

  /** Writes the responses that are ready, in the order of the requests. */
  readonly #flush = (): void => {
    const replies = this.#replies;
    let text = '';
    let isLast = false;
    for (let reply = replies[0]; reply?.isReady === true && !isLast; reply = replies[0]) {
      replies.shift();
      isLast = reply.isLast || (replies.length === 0 && !this.#options.isOpen());
      text += reply.text(!isLast);
    }
    if (text === '' || this.#socket.destroyed) return;
    // Only behind unread responses can this write fill the connection. A callback costs a tick for every response.
    if (this.#socket.writableLength === 0) this.#socket.write(text, 'latin1');
    else this.#socket.write(text, 'latin1', this.#continue);
    if (isLast) this.#end();
    else if (replies.length > 0) this.#continue();
    else if (this.#ending === 'parser') this.#handOver();
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
    if (!this.#isHeld || this.#ending === 'parser' || this.#isFull()) return;
    this.#isHeld = false;
    this.#options.turns.runRead(this.#turnOwner, () => {
      this.#hasTurn = true;
      this.#socket.resume();
    });
  };

  #switchToParser(bytes: Buffer): void {
    this.#ending = 'parser';
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
    this.#options.handOver(socket, this.#readBuffer);
    socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#body !== undefined) this.#refuseBody({ code: 'BAD_REQUEST', close: true });
    else if (this.#replies.length === 0) this.#end();
  };

  readonly #onTimeout = (): void => {
    if (this.#replies.length > 0) return;
    // An end would wait for a sender that does not read its responses.
    if (this.#hasSentRequest) return void this.#socket.destroy();
    this.#socket.write(rawRefusal({ code: 'REQUEST_TIMEOUT' }, false));
    this.#socket.destroySoon();
  };

  readonly #onClose = (): void => {
    freeUnread(this.#socket, this.#readBuffer);
    this.#body?.discard();
    this.#body = undefined;
  };

  /**
   * Ends the connection. If the sender is still sending, reads for a moment, because a reset could discard the
   * response.
   */
  #end(): void {
    const socket = this.#socket;
    this.#ending ??= 'close';
    if (this.#toSkip === 0 || this.#hasEnded) {
      socket.end(() => socket.destroySoon());
      return;
    }
    socket.end();
    linger(socket, () => socket.destroy());
  }
}

function ignore(): void {}
