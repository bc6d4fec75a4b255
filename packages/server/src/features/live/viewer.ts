import { BODY_PREVIEW_BYTES, LIVE_INIT_SIZE } from '@creel/contract';
import type { RequestRecord } from '../../database/store.ts';
import { frameOf } from './frame.ts';
import { InitMessage } from './init-message.ts';
import type { EndpointMessage, FeedEvent } from './live.ts';
import type { Share } from './live-memory.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';

/** The connection to one viewer. */
export interface ViewerConnection {
  send(frame: string): void;
  /** Sends a message in parts, with no other message in between (RFC 6455 5.4). */
  sendPart(text: string, isLast: boolean): void;
  /** Bytes that the network has not accepted yet. */
  pendingBytes(): number;
  /** Buffers frames until `uncork`, so that they leave together. */
  cork(): void;
  uncork(): void;
}

/** Maximum number and bytes of waiting events. Beyond either limit they are dropped and an `init` follows. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/**
 * Frames per flush, and milliseconds between flushes: about 4,000 a second, more than a screen can show. The first
 * event after a pause is sent at once.
 */
const FRAMES_PER_FLUSH = 64;
const FLUSH_MS = 16;
/** Nothing is sent to a viewer with more pending bytes than this. */
const MAX_PENDING_BYTES = 1024 * 1024;
/** Milliseconds between two `init` messages to a viewer that can't keep up. */
const HEAL_MS = 250;
/** Milliseconds before a failed snapshot read is retried. */
const RETRY_MS = 1000;
/** Maximum growth of an event in its serialized form: headers appear twice, with escaped quotation marks. */
const FRAME_GROWTH = 4;

/**
 * One viewer's feed: `init`, then every event once, in order. Events are kept while the snapshot is read. Requests that
 * it already contains are dropped by index, because a reader sees a capture when it is committed and its event follows
 * after the sync. Memory is bounded however slowly the viewer reads: everything counts against its share, and without
 * memory it drops all events and waits for an `init`.
 */
export class Viewer {
  readonly #endpointId: number;
  readonly #store: Pick<Remote<typeof requestQueries>, 'listRequests'>;
  readonly #connection: ViewerConnection;
  readonly #onFailure: (error: unknown) => void;
  readonly #share: Share;
  #waiting: FeedEvent[] = [];
  #waitingBytes = 0;
  /** Bytes held for the remaining parts of an `init`, including the text of one part. */
  #initBytes = 0;
  #partBytes = 0;
  /** Bytes of the `init` that did not fit; it is read again when they are available. */
  #neededBytes = 0;
  /** The newest unsent one; a newer one replaces it. */
  #endpoint: EndpointMessage | undefined;
  /** Highest index of the last snapshot. Requests up to it were committed before, so they are in it or deleted. */
  #newest = -1;
  /** `behind`: events were dropped, and a new `init` is needed. */
  #state: 'new' | 'loading' | 'sending' | 'live' | 'behind' | 'stopped' = 'new';
  /** Events during a snapshot: `cleared` makes it invalid, `overflowed` requires another one. */
  #meanwhile: 'nothing' | 'overflowed' | 'cleared' = 'nothing';
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = -Infinity;

  constructor(
    endpointId: number,
    store: Pick<Remote<typeof requestQueries>, 'listRequests'>,
    connection: ViewerConnection,
    onFailure: (error: unknown) => void,
    share: Share,
  ) {
    this.#endpointId = endpointId;
    this.#store = store;
    this.#connection = connection;
    this.#onFailure = onFailure;
    this.#share = share;
  }

  /** Call once, after subscribing. Reads the snapshot and sends `init`. */
  start(): void {
    if (this.#state === 'new') this.#load();
  }

  /** Receives an event from the hub. Never waits and never throws. */
  take(event: FeedEvent): void {
    if (this.#state === 'loading' && event.type === 'clear') return this.#noteClear();
    if (this.#state !== 'loading' && this.#state !== 'sending' && this.#state !== 'live') return;
    this.#waitingBytes += bytesOf(event);
    if (this.#isOverrun()) return this.#overflow();
    this.#waiting.push(event);
    if (this.#state === 'live') this.#scheduleFlush();
  }

  /** Receives the `endpoint` message. The viewer gets the latest one as soon as possible. */
  takeEndpoint(message: EndpointMessage): void {
    if (this.#state === 'stopped') return;
    this.#endpoint = message;
    if (this.#state === 'live') this.#scheduleFlush();
  }

  /** Call when the network accepted data, so that its memory is released. */
  noteTaken(): void {
    this.#share.note(this.#heldBytes());
  }

  /** Sends nothing more. Sent data counts until the network accepts it, or until `release`. */
  stop(): void {
    this.#state = 'stopped';
    this.#endpoint = undefined;
    this.#clearTimer();
    this.#holdNothing();
  }

  /** Call after the socket is closed. */
  release(): void {
    this.#share.release();
  }

  /**
   * The snapshot may be older than the clear and may contain newer requests. Neither it nor the clear is sent; the next
   * snapshot follows.
   */
  #noteClear(): void {
    this.#empty();
    this.#meanwhile = 'cleared';
  }

  #overflow(): void {
    this.#empty();
    if (this.#state === 'live') this.#fallBehind(HEAL_MS);
    else if (this.#meanwhile === 'nothing') this.#meanwhile = 'overflowed';
  }

  #load(): void {
    this.#state = 'loading';
    this.#meanwhile = 'nothing';
    this.#empty();
    this.#share.read(() => this.#read());
  }

  async #read(): Promise<void> {
    if (this.#state !== 'loading') return;
    try {
      const records = await this.#store.listRequests({
        endpointId: this.#endpointId,
        which: 'any',
        limit: LIVE_INIT_SIZE,
        bodyBytes: BODY_PREVIEW_BYTES,
      });
      if (this.#isLoading()) this.#beginInit(records);
    } catch (error) {
      this.#onFailure(error);
      if (this.#isLoading()) this.#fallBehind(RETRY_MS);
    }
  }

  /** A method, because the state changes during the await. */
  #isLoading(): boolean {
    return this.#state === 'loading';
  }

  #beginInit(records: readonly RequestRecord[]): void {
    if (this.#meanwhile === 'cleared') return this.#load();
    const init = new InitMessage(records, this.#onFailure);
    const first = init.next();
    this.#initBytes = init.bytes;
    this.#partBytes = Math.max(init.maxPartBytes, Buffer.byteLength(first.text));
    if (!this.#share.resize(this.#heldBytes())) return this.#awaitRoom(init.bytes + this.#partBytes);
    this.#neededBytes = 0;
    this.#newest = Math.max(this.#newest, records[0]?.index ?? -1);
    this.#state = 'sending';
    this.#sendPart(init, first);
  }

  #awaitRoom(bytes: number): void {
    this.#neededBytes = bytes;
    this.#fallBehind(HEAL_MS);
  }

  #sendPart(init: InitMessage, part: ReturnType<InitMessage['next']>): void {
    this.#connection.sendPart(part.text, part.isLast);
    this.#initBytes = init.bytes;
    this.#partBytes = init.maxPartBytes;
    this.#share.note(this.#heldBytes());
    if (part.isLast) this.#goLive();
    else this.#scheduleNextPart(init, 0);
  }

  /** One part per turn of the event loop, after the previous part was accepted. */
  #scheduleNextPart(init: InitMessage, wait: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#connection.pendingBytes() > 0) this.#scheduleNextPart(init, FLUSH_MS);
      else this.#sendPart(init, init.next());
    }, wait);
  }

  #goLive(): void {
    if (this.#meanwhile === 'overflowed') return this.#fallBehind(HEAL_MS);
    this.#state = 'live';
    this.#scheduleFlush();
  }

  #fallBehind(wait: number): void {
    this.#state = 'behind';
    this.#holdNothing();
    this.#clearTimer();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#connection.pendingBytes() > 0 || !this.#share.resize(this.#neededBytes))
        return this.#fallBehind(HEAL_MS);
      this.#initBytes = this.#neededBytes;
      this.#load();
    }, wait);
  }

  #scheduleFlush(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#flush();
      },
      Math.max(0, this.#flushedAt + FLUSH_MS - performance.now()),
    );
  }

  #flush(): void {
    this.#flushedAt = performance.now();
    this.#connection.cork();
    // Sent before the requests, so that its counters never lag behind the list.
    if (this.#endpoint !== undefined && this.#hasRoom(0)) {
      this.#send(this.#endpoint);
      this.#endpoint = undefined;
    }
    let sent = 0;
    for (const event of this.#waiting.slice(0, FRAMES_PER_FLUSH)) {
      if (!this.#hasRoom(bytesOf(event))) break;
      this.#sendNext(event);
      sent += 1;
    }
    this.#connection.uncork();
    this.#waiting.splice(0, sent);
    this.#share.note(this.#heldBytes());
    if (this.#waiting.length > 0 || this.#endpoint !== undefined) this.#scheduleFlush();
  }

  /** Whether the message of an event of this many bytes may be sent now. */
  #hasRoom(bytes: number): boolean {
    return (
      this.#connection.pendingBytes() <= MAX_PENDING_BYTES &&
      this.#share.resize(this.#heldBytes() + FRAME_GROWTH * bytes)
    );
  }

  #isOverrun(): boolean {
    return (
      this.#waiting.length >= MAX_WAITING ||
      (this.#waitingBytes > MAX_WAITING_BYTES && this.#waiting.length > 0) ||
      !this.#share.resize(this.#heldBytes())
    );
  }

  #heldBytes(): number {
    return this.#waitingBytes + this.#initBytes + Math.max(this.#partBytes, this.#connection.pendingBytes());
  }

  #sendNext(event: FeedEvent): void {
    this.#waitingBytes -= bytesOf(event);
    if (event.type === 'request' && event.index <= this.#newest) return;
    this.#send(event);
  }

  /** Events that can't be presented are omitted and logged, so that one bad event never ends the feed. */
  #send(event: FeedEvent | EndpointMessage): void {
    try {
      this.#connection.send(frameOf(event));
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #holdNothing(): void {
    this.#initBytes = 0;
    this.#partBytes = 0;
    this.#empty();
  }

  #empty(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#share.note(this.#heldBytes());
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Bytes that a waiting event holds. */
function bytesOf(event: FeedEvent): number {
  if (event.type === 'request') return event.bytes;
  return event.type === 'saved' || event.type === 'delivery' ? frameOf(event).length : 0;
}
