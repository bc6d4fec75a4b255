import type { ProblemCode } from '@creel/contract';
import type { Socket } from 'node:net';
import { rawCaptured, rawRefusal } from './answers.ts';
import type { CaptureReply } from './capture-reply.ts';
import { readPlainRequest } from './plain-request.ts';
import type { PlainRequest } from './plain-request.ts';

/** A connection that says nothing for so long is the parser's, which gives its sender the time that there is for a head. */
const FIRST_WORD_MS = 1000;

/** Takes a request and answers it with the reply, later or at once; false when it is not for here, and then nothing has happened. */
export type PlainHandler = (request: PlainRequest, socket: Socket, reply: CaptureReply) => boolean;

export interface PlainTraffic {
  readonly handle: PlainHandler;
  /** False once the server stops: every connection then ends with its next answer. */
  readonly isOpen: () => boolean;
  /** Gives a connection to Node's parser, for good. What was read and not answered stands in front of what it will read. */
  readonly handOver: (socket: Socket) => void;
  /** Milliseconds that a connection may be idle between two requests. */
  readonly keepAliveMs: number;
}

/**
 * The connections that have sent nothing but plain requests so far, which cost half without Node's parser
 * (docs/decisions/0014-plain-requests.md).
 */
export class PlainConnections {
  readonly #traffic: PlainTraffic;
  readonly #open = new Set<PlainConnection>();

  constructor(traffic: PlainTraffic) {
    this.#traffic = traffic;
  }

  /** Reads a new connection until it says something that is not plain. */
  adopt(socket: Socket): void {
    const connection = new PlainConnection(socket, this.#traffic, () => this.#open.delete(connection));
    this.#open.add(connection);
  }

  /** Hangs up where nobody waits for an answer. */
  closeIdle(): void {
    for (const connection of this.#open) connection.closeIfIdle();
  }
}

/** One request at a time, read whole and answered, then the next. */
class PlainConnection implements CaptureReply {
  readonly #socket: Socket;
  readonly #traffic: PlainTraffic;
  readonly #onGone: () => void;
  #hasSpoken = false;
  /** A request was taken and not yet answered. */
  #isWaiting = false;
  /** The sender sent more ahead of its answer. */
  #hasMore = false;
  /** The sender says no more, and still listens. */
  #hasEnded = false;
  /** The request that was taken is not its sender's last one. */
  #keepsAlive = true;

  constructor(socket: Socket, traffic: PlainTraffic, onGone: () => void) {
    this.#socket = socket;
    this.#traffic = traffic;
    this.#onGone = onGone;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout);
    // A broken connection closes; there is nobody to tell.
    socket.on('error', ignore).on('close', onGone);
    socket.setTimeout(FIRST_WORD_MS);
  }

  closeIfIdle(): void {
    if (!this.#isWaiting) this.#socket.destroy();
  }

  captured(index: number): void {
    const keepsAlive = this.#keepsAlive && this.#traffic.isOpen();
    this.#answer(rawCaptured(index, keepsAlive), keepsAlive);
  }

  refused(code: ProblemCode, retryAfter?: number): void {
    const keepsAlive = this.#keepsAlive && this.#traffic.isOpen();
    this.#answer(rawRefusal(code, { retryAfter, keepsAlive }), keepsAlive);
  }

  #answer(text: string, keepsAlive: boolean): void {
    this.#isWaiting = false;
    if (this.#socket.destroyed) return;
    this.#socket.write(text, 'latin1');
    if (!keepsAlive || this.#hasEnded) this.#end();
    else if (this.#hasMore) this.#handOver();
  }

  readonly #onData = (bytes: Buffer): void => {
    // Behind the connection's last answer nothing is a request.
    if (this.#socket.writableEnded) return;
    if (this.#isWaiting) {
      // In order, once the answer is out; until then no more is read than the socket holds anyway. Put back, so that the sender's end
      // is not told before it was read.
      this.#hasMore = true;
      this.#socket.pause();
      this.#socket.unshift(bytes);
      return;
    }
    if (!this.#take(bytes)) this.#handOver(bytes);
  };

  /** A sender that does not fetch its answers is the parser's too: it stops reading such a one. */
  #take(bytes: Buffer): boolean {
    if (this.#socket.writableLength > 0 || !this.#traffic.isOpen()) return false;
    const request = readPlainRequest(bytes);
    if (request === undefined) return false;
    this.#isWaiting = true;
    this.#keepsAlive = request.keepsAlive;
    if (!this.#traffic.handle(request, this.#socket, this)) {
      this.#isWaiting = false;
      return false;
    }
    if (!this.#hasSpoken) this.#socket.setTimeout(this.#traffic.keepAliveMs);
    this.#hasSpoken = true;
    return true;
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (!this.#isWaiting) this.#end();
  };

  readonly #onTimeout = (): void => {
    if (this.#isWaiting) return;
    if (this.#hasSpoken) this.#socket.destroy();
    else this.#handOver();
  };

  #end(): void {
    this.#socket.end(() => this.#socket.destroySoon());
  }

  #handOver(bytes?: Buffer): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout);
    socket.off('error', ignore).off('close', this.#onGone);
    this.#onGone();
    socket.setTimeout(0);
    socket.pause();
    if (bytes !== undefined) socket.unshift(bytes);
    this.#traffic.handOver(socket);
    socket.resume();
  }
}

function ignore(): void {}
