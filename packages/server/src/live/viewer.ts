import { BODY_PREVIEW_BYTES, LIVE_INIT_SIZE } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import type { RequestStore } from '../storage/store.ts';
import type { LiveEvent } from './live-event.ts';
import { presentPreview } from './present-request.ts';

/** The wire to one viewer. */
export interface Outlet {
  send(frame: string): void;
  /** Bytes that were sent and not yet taken by the network. */
  pendingBytes(): number;
  /** Holds frames back so that they leave together, until `uncork`. */
  cork(): void;
  uncork(): void;
}

type Sendable = Exclude<LiveEvent, { type: 'changed' } | { type: 'gone' }>;

/** Events that wait for a viewer at most; over it they are dropped and an `init` follows. */
const MOST_WAITING = 1000;
/** Frames that leave in one go, and how long the next go waits: about 4,000 a second, more than a screen can show. */
const FRAMES_PER_FLUSH = 64;
const FLUSH_MS = 16;
/** A viewer with more than this on its way is not sent anything more. */
const MOST_PENDING_BYTES = 1024 * 1024;
/** Between two `init`s for a viewer that can't keep up. */
const HEAL_MS = 250;

/**
 * One viewer's feed: `init`, then every event once, in order (contract 5). Events are held while the snapshot is read, and those that
 * the snapshot has already, by index, are dropped: no gap and no double. Costs bounded memory however slowly the viewer reads.
 */
export class Viewer {
  readonly #endpointId: number;
  readonly #store: Pick<RequestStore, 'listRequests'>;
  readonly #outlet: Outlet;
  readonly #onFailure: (error: unknown) => void;
  #waiting: Sendable[] = [];
  /** `behind`: events were dropped, and only a new `init` can heal that. */
  #state: 'loading' | 'live' | 'behind' | 'stopped' = 'loading';
  #overflowed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(endpointId: number, store: Pick<RequestStore, 'listRequests'>, outlet: Outlet, onFailure: (error: unknown) => void) {
    this.#endpointId = endpointId;
    this.#store = store;
    this.#outlet = outlet;
    this.#onFailure = onFailure;
  }

  /** Call after subscribing: reads the snapshot and sends `init`. */
  start(): void {
    this.#load();
  }

  /** Takes an event from the hub. Never waits. */
  take(event: Sendable): void {
    if (this.#state === 'stopped' || this.#state === 'behind') return;
    if (this.#waiting.length >= MOST_WAITING) {
      this.#waiting = [];
      if (this.#state === 'loading') this.#overflowed = true;
      else this.#fallBehind();
      return;
    }
    this.#waiting.push(event);
    if (this.#state === 'live') this.#scheduleFlush(0);
  }

  /** A message beside the requests, such as the endpoint's own; left out for a viewer that is behind. */
  sendNow(message: LiveMessage): void {
    if (this.#state === 'live' && this.#outlet.pendingBytes() < MOST_PENDING_BYTES) this.#outlet.send(JSON.stringify(message));
  }

  stop(): void {
    this.#state = 'stopped';
    this.#waiting = [];
    clearTimeout(this.#timer);
  }

  #load(): void {
    this.#state = 'loading';
    this.#overflowed = false;
    this.#waiting = [];
    this.#store.listRequests({ endpointId: this.#endpointId, which: 'any', limit: LIVE_INIT_SIZE, bodyBytes: BODY_PREVIEW_BYTES }).then(
      (records) => {
        if (this.#state !== 'loading') return;
        const newest = records[0]?.index ?? -1;
        this.#outlet.send(JSON.stringify({ type: 'init', data: records.map(presentPreview) } satisfies LiveMessage));
        if (this.#overflowed) return this.#fallBehind();
        this.#state = 'live';
        this.#waiting = this.#waiting.filter((event) => event.type !== 'request' || event.index > newest);
        if (this.#waiting.length > 0) this.#scheduleFlush(0);
      },
      (error: unknown) => {
        this.#onFailure(error);
        if (this.#state === 'loading') this.#fallBehind();
      },
    );
  }

  #fallBehind(): void {
    this.#state = 'behind';
    this.#waiting = [];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#state !== 'behind') return;
      if (this.#outlet.pendingBytes() > 0) this.#fallBehind();
      else this.#load();
    }, HEAL_MS);
  }

  #scheduleFlush(delay: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, delay);
  }

  #flush(): void {
    if (this.#state !== 'live') return;
    if (this.#outlet.pendingBytes() > MOST_PENDING_BYTES) return this.#waiting.length > 0 ? this.#scheduleFlush(FLUSH_MS) : undefined;
    this.#outlet.cork();
    for (const event of this.#waiting.splice(0, FRAMES_PER_FLUSH)) this.#outlet.send(JSON.stringify(toMessage(event)));
    this.#outlet.uncork();
    if (this.#waiting.length > 0) this.#scheduleFlush(FLUSH_MS);
  }
}

function toMessage(event: Sendable): LiveMessage {
  switch (event.type) {
    case 'request':
      return { type: 'request', data: event.present() };
    case 'saved':
      return { type: 'saved', data: { oldId: event.oldId, request: event.request } };
    case 'deleted':
      return { type: 'deleted', data: { id: event.id } };
    case 'clear':
      return { type: 'clear', data: {} };
  }
}
