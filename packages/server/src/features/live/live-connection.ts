import { BODY_PREVIEW_BYTES, LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT, LIVE_INIT_SIZE } from '@creel/contract';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';
import { freeBytes } from '../../http/body-buffer.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { MemoryBudget } from '../../limits/memory-budget.ts';
import type { Reservation } from '../../limits/memory-budget.ts';
import { InitMessage } from './init-message.ts';
import type { EndpointMessage, FeedEvent, UnresolvedEvent, RequestEvent } from './live-events.ts';
import { reduce } from './live-reducer.ts';
import { NEW_LIVE_STATE, heldBytes } from './live-state.ts';
import type { Effect, Input, LiveState } from './live-state.ts';
import { PeerHealth } from './peer-health.ts';

/** Close codes (RFC 6455 7.4; docs/api.md, "Live"). */
const REASONS = {
  [LIVE_CLOSE_SIGNED_OUT]: 'signed out',
  [LIVE_CLOSE_ENDPOINT_GONE]: 'the endpoint is gone',
  1001: 'the server stops',
  1008: 'too many messages',
} as const;
export type CloseCode = keyof typeof REASONS;

/** The parts of a WebSocket that a live connection uses. */
export interface LiveSocket {
  /** Bytes that the network has not accepted yet. */
  readonly bufferedAmount: number;
  on(event: 'message', listener: (data: WebSocketData) => void): unknown;
  on(event: 'ping' | 'pong' | 'error' | 'close', listener: () => void): unknown;
  send(data: string | Buffer, options: { binary: boolean; fin: boolean }, done: () => void): void;
  ping(data: undefined, mask: undefined, done: () => void): void;
  close(code: number, reason: string): void;
  /** Reads nothing more. */
  pause(): void;
  terminate(): void;
}

type WebSocketData = Buffer | ArrayBuffer | readonly Buffer[];

/** Maximum bytes of all live connections, and of one user's while nobody else has any. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_PER_USER = 24 * 1024 * 1024;
/** Bytes per connection that don't count, so that an ordinary viewer always has enough. */
const UNCOUNTED_BYTES = 128 * 1024;
/** Maximum number of concurrent snapshot reads, because the size of a snapshot is unknown until it is read. */
const MAX_READS = 4;

/** What the live connections of a node share. */
export type LiveMemory = ReturnType<typeof newLiveMemory>;

/** Both limits in bytes. */
export function newLiveMemory(max = MAX_BYTES, maxPerUser = MAX_BYTES_PER_USER) {
  return {
    /** For waiting events, an `init` in progress, and data that sockets have not sent. */
    budget: new MemoryBudget({ bytes: max, maxShare: maxPerUser / max, uncounted: UNCOUNTED_BYTES }),
    /** The limit of live connections bounds what waits. */
    reads: new FairQueue({ concurrency: MAX_READS }),
  };
}

export interface LiveConnectionOptions {
  readonly socket: LiveSocket;
  /** The connection under the WebSocket. Frames between `cork` and `uncork` leave together. */
  readonly transport: { cork(): void; uncork(): void };
  readonly userId: number;
  readonly sessionId: string;
  readonly endpoint: { readonly id: number; readonly uid: string };
  readonly store: Pick<Remote<typeof requestQueries>, 'listRequests'>;
  /** Reads the requests with an index above `after`, up to `upTo`, oldest first. `undefined`: there are too many. */
  readonly readRequests: (after: number, upTo: number) => Promise<readonly RequestEvent[] | undefined>;
  readonly memory: LiveMemory;
  readonly onFailure: (error: unknown) => void;
  /** Called once, when the connection ends. */
  readonly onClosed: () => void;
}

/** One browser's live connection. live-reducer.ts decides what it sends; this class performs it on a socket. */
export class LiveConnection {
  readonly endpoint: LiveConnectionOptions['endpoint'];
  readonly sessionId: string;
  readonly userId: number;
  readonly #options: LiveConnectionOptions;
  readonly #reservation: Reservation;
  #state: LiveState = NEW_LIVE_STATE;
  #init: InitMessage | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #peer = new PeerHealth();
  readonly #noteAccepted = (): void => {
    this.#peer.noteAccepted();
    this.#noteMemory();
  };

  constructor(options: LiveConnectionOptions) {
    this.#options = options;
    const { socket, memory, endpoint, sessionId, userId } = options;
    this.endpoint = endpoint;
    this.sessionId = sessionId;
    this.userId = userId;
    this.#reservation = memory.budget.reserve(userId);
    socket.on('message', (data) => {
      this.#count('byteLength' in data ? data.byteLength : undefined);
      // Nothing reads it.
      if (data instanceof Uint8Array) freeBytes(data);
    });
    socket.on('ping', () => this.#count(0));
    socket.on('pong', () => {
      this.#peer.notePong();
      this.#count(0);
    });
    // A protocol error closes the socket. Without a listener it would end the process.
    socket.on('error', () => {
      this.#end();
      // `ws` resumes reading in the next tick.
      process.nextTick(() => socket.pause());
    });
    socket.on('close', () => {
      this.#end();
      this.#reservation.release();
    });
  }

  /** Call once, after subscribing. Reads the snapshot and sends `init`. */
  start(): void {
    this.#dispatch({ type: 'start' });
  }

  /** Receives an event of its endpoint. Never waits and never throws. */
  take(event: FeedEvent | UnresolvedEvent): void {
    this.#dispatch({ type: 'event', event });
  }

  /** Receives the `endpoint` message. The viewer gets the latest one as soon as possible. */
  takeEndpoint(message: EndpointMessage): void {
    this.#dispatch({ type: 'endpoint', message });
  }

  /** Events of other nodes were lost: sends a new `init`. */
  refresh(): void {
    this.#dispatch({ type: 'gap' });
  }

  /** Sends a ping. Drops the connection if the peer has shown no sign of life since the last one. */
  ping(): void {
    const { socket } = this.#options;
    if (!this.#peer.isAlive) return socket.terminate();
    socket.ping(undefined, undefined, this.#noteAccepted);
    this.#peer.notePing(socket.bufferedAmount > 0);
  }

  /** Closes with a code. A peer that does not answer is cut off soon (`closeTimeout` in upgrade.ts). */
  close(code: CloseCode): void {
    this.#end();
    this.#options.socket.close(code, REASONS[code]);
  }

  #dispatch(input: Input): void {
    const pendingBytes = this.#options.socket.bufferedAmount;
    const context = { now: performance.now(), pendingBytes, maxBytes: this.#reservation.fairMax };
    const [state, effects] = reduce(this.#state, input, context);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#noteMemory();
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'load':
        return void this.#options.memory.reads.run(this.userId, () => this.#load());
      case 'send-part':
        return this.#sendPart();
      case 'read':
        return void this.#report(effect.readId, this.#read(effect));
      case 'lookup':
        return void this.#report(effect.readId, this.#lookUp(effect));
      case 'send':
        return this.#send(effect.frames);
      case 'timer':
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#dispatch({ type: 'timer' }), effect.ms);
        return;
      case 'report':
        return this.#options.onFailure(effect.error);
    }
  }

  async #load(): Promise<void> {
    const { store, endpoint, onFailure } = this.#options;
    if (this.#isClosed) return;
    try {
      const records = await store.listRequests({
        endpointId: endpoint.id,
        which: 'any',
        limit: LIVE_INIT_SIZE,
        bodyBytes: BODY_PREVIEW_BYTES,
      });
      this.#init = new InitMessage(records, onFailure);
      const { bytes, maxPartBytes: partBytes } = this.#init;
      this.#dispatch({ type: 'snapshot', newest: records[0]?.index ?? -1, bytes, partBytes });
      // There is no memory for it, it is out of date, so that another one follows, or the connection is closed.
      if (this.#state.phase !== 'sending') this.#discardInit();
    } catch (error) {
      onFailure(error);
      this.#dispatch({ type: 'snapshot-failed' });
    }
  }

  #sendPart(): void {
    const init = this.#init;
    if (init === undefined) return;
    const { text, isLast } = init.next();
    // A Buffer, so that the backlog is counted in bytes.
    const bytes = Buffer.from(text);
    this.#options.socket.send(bytes, { binary: false, fin: isLast }, () => {
      freeBytes(bytes);
      this.#noteAccepted();
    });
    this.#noteWaiting();
    if (isLast) this.#init = undefined;
    this.#dispatch({ type: 'part-sent', bytes: init.bytes, partBytes: init.maxPartBytes, isLast });
  }

  async #read({ readId, after, upTo }: Extract<Effect, { type: 'read' }>): Promise<Input> {
    const events = await this.#options.readRequests(after, upTo);
    if (events === undefined) return { type: 'read-failed', readId, reason: 'too-many' };
    return { type: 'found', readId, upTo, events };
  }

  async #lookUp({ readId, find }: Extract<Effect, { type: 'lookup' }>): Promise<Input> {
    return { type: 'looked-up', readId, events: await find() };
  }

  async #report(readId: number, result: Promise<Input>): Promise<void> {
    try {
      this.#dispatch(await result);
    } catch (error) {
      this.#options.onFailure(error);
      this.#dispatch({ type: 'read-failed', readId, reason: 'error' });
    }
  }

  #send(frames: readonly string[]): void {
    const { socket, transport } = this.#options;
    transport.cork();
    for (const frame of frames) socket.send(frame, { binary: false, fin: true }, this.#noteAccepted);
    transport.uncork();
    this.#noteWaiting();
  }

  /** Sent data counts until the network accepts it, or until the socket is closed. */
  #noteMemory(): void {
    this.#reservation.set(heldBytes(this.#state, this.#options.socket.bufferedAmount));
  }

  #noteWaiting(): void {
    if (this.#options.socket.bufferedAmount > 0) this.#peer.noteWaiting();
  }

  #count(bytes: number | undefined): void {
    this.#peer.noteFrame(bytes);
    if (this.#isClosed || !this.#peer.isFlooding) return;
    this.close(1008);
    // Otherwise it would read the flood until the peer answers.
    this.#options.socket.pause();
  }

  #discardInit(): void {
    this.#init?.discard();
    this.#init = undefined;
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#discardInit();
    this.#dispatch({ type: 'stop' });
    clearTimeout(this.#timer);
    this.#options.onClosed();
  }
}
