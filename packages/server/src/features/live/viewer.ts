import { BODY_PREVIEW_BYTES, LIVE_INIT_SIZE } from '@creel/contract';
import type { RequestRecord, RequestStore } from '../../database/store.ts';
import { frameOf } from './frame.ts';
import { InitMessage } from './init-message.ts';
import type { EndpointMessage, FeedEvent } from './live-event.ts';
import type { Share } from './live-memory.ts';

/** The wire to one viewer. */
export interface Outlet {
  send(frame: string): void;
  /** Sends a message in parts, with no other in between (RFC 6455 5.4). */
  sendPart(text: string, isLast: boolean): void;
  /** Bytes that were sent and not yet taken by the network. */
  pendingBytes(): number;
  /** Holds frames back so that they leave together, until `uncork`. */
  cork(): void;
  uncork(): void;
}

/** Events that wait for a viewer at most, and their bytes; over either they are dropped and an `init` follows. */
const MOST_WAITING = 1000;
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
/**
 * Frames that leave in one go, and milliseconds from one go to the next: about 4,000 a second, more than a screen can show. What comes
 * after a pause leaves at once.
 */
const FRAMES_PER_FLUSH = 64;
const FLUSH_MS = 16;
/** A viewer with more than this on its way is not sent anything more. */
const MOST_PENDING_BYTES = 1024 * 1024;
/** Between two `init`s for a viewer that can't keep up. */
const HEAL_MS = 250;
/** Before the snapshot is asked for again when storage failed. */
const RETRY_MS = 1000;
/** What a waiting event becomes as a frame, times its bytes: headers are there twice, a quotation mark has a backslash. */
const FRAME_GROWTH = 4;

/**
 * One viewer's feed: `init`, then every event once, in order (contract 5). Events are held while the snapshot is read, and requests
 * that it has already, by index, are dropped, also those that are published only later: a reader sees a capture as soon as it is
 * committed, its event comes after it is synced. Costs bounded memory however slowly the viewer reads: all that is held for it is
 * counted in its share, and when there is no room it holds nothing and waits for an `init`.
 */
export class Viewer {
  readonly #endpointId: number;
  readonly #store: Pick<RequestStore, 'listRequests'>;
  readonly #outlet: Outlet;
  readonly #onFailure: (error: unknown) => void;
  readonly #share: Share;
  #waiting: FeedEvent[] = [];
  #waitingBytes = 0;
  /** Bytes that are held for the parts to come of an `init`, and room for one of them on the wire. */
  #initBytes = 0;
  #partBytes = 0;
  /** Bytes of the `init` for which there was no room, so that it is not read again before there is. */
  #neededBytes = 0;
  /** The newest one that was not sent yet: the next replaces it. */
  #endpoint: EndpointMessage | undefined;
  /** Highest index of the last snapshot: whatever is not above it was committed before, and is in it unless it is gone. */
  #newest = -1;
  /** `behind`: events were dropped, and only a new `init` can heal that. */
  #state: 'new' | 'loading' | 'sending' | 'live' | 'behind' | 'stopped' = 'new';
  /** What became of the snapshot while it was read and sent: `cleared` makes it worthless, `overflowed` makes it the first of two. */
  #meanwhile: 'nothing' | 'overflowed' | 'cleared' = 'nothing';
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = -Infinity;

  constructor(
    endpointId: number,
    store: Pick<RequestStore, 'listRequests'>,
    outlet: Outlet,
    onFailure: (error: unknown) => void,
    share: Share,
  ) {
    this.#endpointId = endpointId;
    this.#store = store;
    this.#outlet = outlet;
    this.#onFailure = onFailure;
    this.#share = share;
  }

  /** Call once, after subscribing: reads the snapshot and sends `init`. */
  start(): void {
    if (this.#state === 'new') this.#load();
  }

  /** Takes an event from the hub. Never waits and never throws. */
  take(event: FeedEvent): void {
    if (this.#state === 'loading' && event.type === 'clear') return this.#noteClear();
    if (this.#state !== 'loading' && this.#state !== 'sending' && this.#state !== 'live') return;
    this.#waitingBytes += bytesOf(event);
    if (this.#isOverrun()) return this.#overflow();
    this.#waiting.push(event);
    if (this.#state === 'live') this.#scheduleFlush();
  }

  /** Takes the endpoint's own message. Whatever the viewer is busy with, it gets the last of them as soon as it can. */
  takeEndpoint(message: EndpointMessage): void {
    if (this.#state === 'stopped') return;
    this.#endpoint = message;
    if (this.#state === 'live') this.#scheduleFlush();
  }

  /** Call when the network took something: what it took counts no more. */
  noteTaken(): void {
    this.#share.note(this.#heldBytes());
  }

  /** Nothing more is sent. What was sent counts until it is taken, or until `release`. */
  stop(): void {
    this.#state = 'stopped';
    this.#endpoint = undefined;
    this.#clearTimer();
    this.#holdNothing();
  }

  /** Call once the socket is gone. */
  release(): void {
    this.#share.release();
  }

  /** The snapshot may be of before, and what was stored since may be in it as well: neither it nor the clear is sent, but the next. */
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

  /** As a call, because the state changes while the snapshot is read. */
  #isLoading(): boolean {
    return this.#state === 'loading';
  }

  #beginInit(records: readonly RequestRecord[]): void {
    if (this.#meanwhile === 'cleared') return this.#load();
    const init = new InitMessage(records, this.#onFailure);
    const first = init.next();
    this.#initBytes = init.bytes;
    this.#partBytes = Math.max(init.mostPartBytes, Buffer.byteLength(first.text));
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
    this.#outlet.sendPart(part.text, part.isLast);
    this.#initBytes = init.bytes;
    this.#partBytes = init.mostPartBytes;
    this.#share.note(this.#heldBytes());
    if (part.isLast) this.#goLive();
    else this.#scheduleNextPart(init, 0);
  }

  /** Each in a turn of its own, and only when the one before was taken. */
  #scheduleNextPart(init: InitMessage, wait: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#outlet.pendingBytes() > 0) this.#scheduleNextPart(init, FLUSH_MS);
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
      if (this.#outlet.pendingBytes() > 0 || !this.#share.resize(this.#neededBytes)) return this.#fallBehind(HEAL_MS);
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
    this.#outlet.cork();
    // Before the requests: what it does not count yet must not be on the page already.
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
    this.#outlet.uncork();
    this.#waiting.splice(0, sent);
    this.#share.note(this.#heldBytes());
    if (this.#waiting.length > 0 || this.#endpoint !== undefined) this.#scheduleFlush();
  }

  /** Whether a frame of an event of this many bytes may be sent now. */
  #hasRoom(bytes: number): boolean {
    return (
      this.#outlet.pendingBytes() <= MOST_PENDING_BYTES && this.#share.resize(this.#heldBytes() + FRAME_GROWTH * bytes)
    );
  }

  #isOverrun(): boolean {
    return (
      this.#waiting.length >= MOST_WAITING ||
      (this.#waitingBytes > MOST_WAITING_BYTES && this.#waiting.length > 0) ||
      !this.#share.resize(this.#heldBytes())
    );
  }

  #heldBytes(): number {
    return this.#waitingBytes + this.#initBytes + Math.max(this.#partBytes, this.#outlet.pendingBytes());
  }

  #sendNext(event: FeedEvent): void {
    this.#waitingBytes -= bytesOf(event);
    if (event.type === 'request' && event.index <= this.#newest) return;
    this.#send(event);
  }

  /** What can't be presented is left out and told: one bad event never kills the feed. */
  #send(event: FeedEvent | EndpointMessage): void {
    try {
      this.#outlet.send(frameOf(event));
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

/** What is held by an event that waits. */
function bytesOf(event: FeedEvent): number {
  if (event.type === 'request') return event.bytes;
  return event.type === 'saved' ? frameOf(event).length : 0;
}
