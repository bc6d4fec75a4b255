import { LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { Bus } from '../../bus/bus.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { Remote } from '../../database/remote.ts';
import { databaseTooLate } from '../../database/store.ts';
import { withTimeout } from '../../limits/timeouts.ts';
import { CoalescedRun } from '../../workers/background.ts';
import type { LiveConnection } from './live-connection.ts';
import type { UnresolvedEvent } from './live-events.ts';
import type { liveQueries } from './queries.ts';

/** Milliseconds between two polls while notices may be missing. */
const POLL_MS = 500;
/** Milliseconds for one poll. After an outage, the database may never answer earlier polls. */
const CHECK_MS = 2000;

export interface LivePollOptions {
  readonly store: Remote<typeof liveQueries>;
  readonly bus: Bus;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  readonly connections: () => readonly LiveConnection[];
  readonly deliver: (endpointId: number, event: UnresolvedEvent) => void;
  /** Events of the endpoint were lost. */
  readonly refresh: (endpointId: number) => void;
}

/**
 * Reads the sessions and endpoints of all live connections when a connection opens and with each ping. In place of lost
 * notices, it reads them after a gap, and at intervals while the bus is down.
 */
export class LivePoll {
  readonly #options: LivePollOptions;
  readonly #timer: NodeJS.Timeout;
  /** Watched endpoints at the last poll. */
  #polled = new Map<number, EndpointRecord>();
  readonly #polling = new CoalescedRun(() => this.#poll());
  /** Notices were lost since the last successful poll. */
  #hasGap = false;
  /** The last check failed. Failures in a row are reported once. */
  #isFailing = false;
  #isClosed = false;

  constructor(options: LivePollOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      // A poll that takes longer is not followed by another one at once, because the database may be busy.
      if (this.#polling.running === undefined && (this.#hasGap || !options.bus.isHealthy)) this.#polling.start();
    }, POLL_MS).unref();
    options.bus.onGap(() => {
      this.#hasGap = true;
      this.#polling.start();
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /**
   * Closes connections whose session or endpoint ended, and returns the endpoints. `undefined` when the database does
   * not answer: that never means that a session ended.
   */
  async check(connections: readonly LiveConnection[]): Promise<readonly EndpointRecord[] | undefined> {
    const { store, now, onFailure } = this.#options;
    if (connections.length === 0) return [];
    try {
      const sessionIds = new Set(connections.map(({ sessionId }) => sessionId));
      const endpointIds = new Set(connections.map(({ endpoint }) => endpoint.id));
      const watched = store.readWatched([...sessionIds], [...endpointIds], now());
      const { openSessions, endpoints } = await withTimeout(CHECK_MS, watched, databaseTooLate);
      const [open, existing] = [new Set(openSessions), new Set(endpoints.map(({ id }) => id))];
      for (const connection of connections) {
        if (!open.has(connection.sessionId)) connection.close(LIVE_CLOSE_SIGNED_OUT);
        else if (!existing.has(connection.endpoint.id)) connection.close(LIVE_CLOSE_ENDPOINT_GONE);
      }
      this.#isFailing = false;
      return endpoints;
    } catch (error) {
      // A check that was under way when the server stopped finds a closed database.
      if (!this.#isFailing && !this.#isClosed) onFailure(error);
      this.#isFailing = true;
      return undefined;
    }
  }

  async #poll(): Promise<void> {
    if (this.#isClosed) return;
    const hadGap = this.#hasGap;
    this.#hasGap = false;
    const endpoints = await this.check(this.#options.connections());
    if (endpoints === undefined) {
      this.#hasGap ||= hadGap;
      return;
    }
    const before = hadGap ? new Map<number, EndpointRecord>() : this.#polled;
    this.#polled = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
    for (const endpoint of endpoints) this.#catchUp(before.get(endpoint.id), endpoint);
  }

  /** `before` is the endpoint at the last poll. Without it, anything may have happened. */
  #catchUp(before: EndpointRecord | undefined, after: EndpointRecord): void {
    const { deliver, refresh } = this.#options;
    if (before === undefined) refresh(after.id);
    else if (JSON.stringify(before) === JSON.stringify(after)) return;
    else if (hasOnlyCaptures(before, after)) deliver(after.id, { type: 'stored', upTo: after.newestIndex });
    else refresh(after.id);
  }
}

/** Whether the counters show that requests were captured, and none saved, deleted or cleared. */
function hasOnlyCaptures(before: EndpointRecord, after: EndpointRecord): boolean {
  const captured = after.newestIndex - before.newestIndex;
  const saved = after.savedCount - before.savedCount;
  // Live connections send no message about dropped requests.
  const unsaved = after.unsavedCount - before.unsavedCount + after.droppedCount - before.droppedCount;
  return after.autosave ? saved === captured && unsaved === 0 : saved === 0 && unsaved === captured;
}
