import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { freeBuffer, freeUnread, unreadBytesOf } from './body-buffer.ts';
import { FULL_READ_BYTES, turnOwner } from './loop-turns.ts';
import type { LoopTurns } from './loop-turns.ts';

const connections = new WeakMap<Socket, ParsedConnection>();

/** The connection of a socket that Node's parser reads. */
export function parsedConnection(socket: Socket): ParsedConnection | undefined {
  return connections.get(socket);
}

/** The length of a body, according to its head. */
interface BodyFraming {
  /** Bytes, or -1. */
  readonly declaredLength: number;
  readonly hasTransferEncoding: boolean;
}

/**
 * Milliseconds of parsing before other connections take turns. A body in chunks of one byte takes a thousand times as
 * long as one chunk. So slices shrink while they are slow.
 */
const MAX_PARSE_MS = 0.5;
/** After a read of a body that takes longer, the next one waits for its turn. Sixty such reads made turns of 25 ms. */
const COSTLY_MS = 0.25;
const MAX_SLICE_BYTES = 64 * 1024;
const MIN_SLICE_BYTES = 1024;

/**
 * Feeds Node's parser one request at a time: the next request is parsed after the previous response. By default Node
 * starts all requests of a read before it answers the first, and 64 KiB can hold 2,000. Data that is sent ahead stays in
 * the socket, which stops reading from the network.
 */
export class ParsedConnection {
  readonly #socket: Socket;
  readonly #turns: LoopTurns;
  readonly #parse: (bytes: Buffer) => void;
  readonly #slices = new Slices();
  #current: { readonly request: IncomingMessage; readonly response: ServerResponse; isAnswered: boolean } | undefined;
  /** Called when a body can't be completed: the connection closed, or the body is not valid HTTP. */
  onCutOff: (() => void) | undefined;
  /** The memory of the last read, if no body refers to it. */
  #readBuffer: ArrayBufferLike | undefined;
  #maxSliceBytes = MAX_SLICE_BYTES;
  /** The socket holds unread bytes until the connection's turn, although Node resumes it whenever a body is read. */
  #waitsForTurn = false;
  /** The last read of this body took long, so the next one waits for its turn. */
  #isCostly = false;
  /** The socket delivers the bytes that it holds in this connection's turn. */
  #hasTurn = false;
  #isReleased = false;

  /** `attach` adds the HTTP server's listener, which feeds its parser. `readBuffer`: the memory of unread bytes. */
  constructor(socket: Socket, turns: LoopTurns, attach: () => void, readBuffer?: ArrayBufferLike) {
    this.#socket = socket;
    this.#readBuffer = readBuffer;
    this.#turns = turns;
    connections.set(socket, this);
    attach();
    const listeners = socket.listeners('data');
    // A data listener also stops the parser from reading the socket's handle directly.
    socket.removeAllListeners('data').on('data', this.#onData).once('close', this.#onClose);
    this.#parse = (bytes) => {
      for (const listener of listeners) Reflect.apply(listener, socket, [bytes]);
    };
  }

  /** No complete request waits for its response, and the socket was not upgraded. */
  get canClose(): boolean {
    const current = this.#current;
    return !this.#isReleased && (current === undefined || current.isAnswered || !current.request.complete);
  }

  get unreadBytes(): number {
    return unreadBytesOf(this.#socket, this.#readBuffer);
  }

  /** The response to the request in flight. */
  get response(): ServerResponse | undefined {
    return this.#current?.response;
  }

  /** Call it after a head was parsed. The response's `shouldKeepAlive` decides whether the connection continues. */
  begin(request: IncomingMessage, response: ServerResponse, head: BodyFraming): void {
    const current = { request, response, isAnswered: false };
    this.#current = current;
    this.#slices.beginBody(head);
    if (head.declaredLength > 0 || head.hasTransferEncoding) this.#readBuffer = undefined;
    response.once('close', () => {
      current.isAnswered = true;
      this.#endIfOver();
    });
  }

  /** Closes the connection after the response to the request in flight, unless the client was told otherwise. */
  endWithResponse(): void {
    const { response } = this;
    if (response?.headersSent === false) response.shouldKeepAlive = false;
  }

  /** Releases the socket after an upgrade, with all unread data. */
  release(): void {
    this.#isReleased = true;
    this.#readBuffer = undefined;
    this.#socket.off('data', this.#onData).off('close', this.#onClose);
    connections.delete(this.#socket);
  }

  readonly #onData = (bytes: Buffer): void => {
    const socket = this.#socket;
    const began = performance.now();
    const { buffer, length } = bytes;
    const isInBody = this.#current?.request.complete === false;
    if (length === buffer.byteLength) this.#readBuffer = isInBody ? undefined : buffer;
    let rest = bytes;
    let hasTime = this.#hasTurn || !this.#isCostly;
    this.#hasTurn = false;
    while (rest.length > 0 && hasTime && !this.#isReleased && !this.#waitsForTurn && this.#mayParse()) {
      const end = this.#slices.next(rest.subarray(0, this.#isRead() ? this.#maxSliceBytes : MIN_SLICE_BYTES));
      this.#parse(rest.subarray(0, end));
      rest = rest.subarray(end);
      hasTime = performance.now() - began < MAX_PARSE_MS;
      this.#endIfOver();
    }
    // A head is parsed quickly. What took long was its handler, or the machine was busy.
    const isUnfinished = this.#current?.request.complete === false;
    this.#isCostly = isUnfinished && performance.now() - began > COSTLY_MS;
    if (rest.length < length) {
      const next = hasTime ? this.#maxSliceBytes * 2 : this.#maxSliceBytes / 2;
      this.#maxSliceBytes = Math.min(MAX_SLICE_BYTES, Math.max(MIN_SLICE_BYTES, next));
    }
    if (socket.destroyed) return;
    if (rest.length === 0 || this.#isDiscarding) {
      if (buffer === this.#readBuffer) freeBuffer(buffer);
      return this.#afterRead(length);
    }
    if (!this.#isReleased) socket.pause();
    socket.unshift(rest);
    if (!this.#isReleased && !this.#waitsForTurn && this.#mayParse()) this.#resumeInTurn();
  };

  /** By default Node reads up to 2 MiB of one socket before the next one. */
  #afterRead(length: number): void {
    if (length < FULL_READ_BYTES || this.#isReleased || this.#waitsForTurn) return;
    this.#socket.pause();
    this.#resumeInTurn();
  }

  #resumeInTurn(): void {
    this.#waitsForTurn = true;
    this.#turns.runRead(turnOwner(this.#socket), () => {
      this.#waitsForTurn = false;
      this.#hasTurn = this.#socket.readableLength > 0;
      this.#socket.resume();
    });
  }

  /**
   * The connection ends with the response in flight, or after invalid HTTP. What follows is read but not parsed, because
   * closing with unread data resets it. So is the rest of a rejected body that is slow to parse: in tiny chunks it would
   * take seconds.
   */
  get #isDiscarding(): boolean {
    if (!this.#socket.writable) return true;
    if (this.#current?.response.shouldKeepAlive !== false) return false;
    const { request, response } = this.#current;
    return request.complete || (response.headersSent && this.#maxSliceBytes < MAX_SLICE_BYTES);
  }

  /** The next head is parsed after the response. A body is parsed while its handler reads it, or chunks accumulate. */
  #mayParse(): boolean {
    if (this.#socket.destroyed || this.#isDiscarding || this.#current?.request.complete === true) return false;
    return this.#isRead() || this.#current?.request.readableLength === 0;
  }

  /** The handler reads the current body, or a head is next. Node resumes the socket when a handler starts to read. */
  #isRead(): boolean {
    return this.#current === undefined || this.#current.request.readableFlowing === true;
  }

  #endIfOver(): void {
    const current = this.#current;
    if (current === undefined || !current.isAnswered || !current.request.complete) return;
    // A connection that ends with this response handles no further requests (RFC 9112 9.6).
    if (current.response.shouldKeepAlive) this.#current = undefined;
    this.onCutOff = undefined;
    const socket = this.#socket;
    if (socket.isPaused() && !this.#waitsForTurn) this.#resumeInTurn();
  }

  readonly #onClose = (): void => {
    freeUnread(this.#socket, this.#readBuffer);
    this.onCutOff?.();
    connections.delete(this.#socket);
  };
}

const EMPTY_LINE = '\r\n\r\n';

/** Slices the data of a connection so that no slice includes the head of a second request. */
class Slices {
  /** Remaining bytes of the current body, if the sender declared a length. */
  #bodyLeft = 0;
  /** The end of the last slice, which may be the beginning of an empty line. */
  #tail = '';

  beginBody({ declaredLength, hasTransferEncoding }: BodyFraming): void {
    this.#bodyLeft = hasTransferEncoding ? 0 : Math.max(0, declaredLength);
  }

  /** The length of the next slice. A head and a chunked body both end with an empty line (RFC 9112 2.1 and 7.1). */
  next(bytes: Buffer): number {
    if (this.#bodyLeft > 0) {
      const length = Math.min(this.#bodyLeft, bytes.length);
      this.#bodyLeft -= length;
      return length;
    }
    const seam = this.#tail + bytes.toString('latin1', 0, EMPTY_LINE.length - 1);
    const acrossAt = seam.indexOf(EMPTY_LINE);
    const at = acrossAt < 0 ? bytes.indexOf(EMPTY_LINE) : acrossAt - this.#tail.length;
    if (acrossAt >= 0 || at >= 0) {
      this.#tail = '';
      return at + EMPTY_LINE.length;
    }
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - 3))).slice(-3);
    return bytes.length;
  }
}
