import { BODY_PREVIEW_BYTES, LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { ProblemError } from '../../http/problem.ts';
import type { Bus, Notice } from '../../bus/bus.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';
import type { EndpointRecord, LoggedIn } from '../../database/records.ts';
import type { StoredAs } from '../../database/stored-request.ts';
import { EndpointTicker } from './endpoint-ticker.ts';
import { LiveConnection, newLiveMemory } from './live-connection.ts';
import type { CloseCode, LiveMemory } from './live-connection.ts';
import { eventsOf, eventOfRecord, eventOfCapture } from './live-events.ts';
import type {
  ContentEvent,
  ContentReader,
  EndpointMessage,
  FeedEvent,
  UnresolvedEvent,
  RequestEvent,
  StoredCapture,
} from './live-events.ts';
import { SharedReads } from '../../limits/shared-reads.ts';
import { LivePoll } from './live-poll.ts';
import type { liveQueries } from './queries.ts';

const PING_MS = 30_000;
/** Between two pings of a connection, the others have theirs. Pings to thousands at once would delay captures. */
const PING_TURNS = 30;
/** Maximum live connections of one user, over all endpoints and sessions. */
const MAX_PER_USER = 100;
/** `Retry-After` in seconds of a rejected upgrade. */
const RETRY_SECONDS = 5;
/** Maximum number of requests that are read to fill a gap. If there are more, connections get a new `init`. */
const MAX_GAP = 250;

export interface LiveOptions extends ContentReader {
  readonly store: Pick<Remote<typeof requestQueries>, 'listRequests' | 'findSome'> & Remote<typeof liveQueries>;
  readonly bus: Bus;
  /** The `endpoint` message of a uid; `undefined` when it does not exist. */
  readonly describeEndpoint: (uid: string) => Promise<EndpointMessage | undefined>;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds between two pings. A peer that does not answer, or reads nothing that waits, is dropped. */
  readonly pingMs?: number | undefined;
  readonly memory?: LiveMemory | undefined;
}

/** A logged-in user who may see the endpoint. */
export interface Viewer {
  readonly loggedIn: LoggedIn;
  readonly endpoint: EndpointRecord;
}

/** A notice that concerns live connections or endpoints. */
type LiveNotice = Exclude<Notice, { kind: 'captured' | 'due' | 'hello' | 'left' }>;

/** All live connections of this node. Publishing never waits or fails. Notices have no content, so it is read. */
export class Live {
  readonly #options: LiveOptions;
  readonly #ticker: EndpointTicker;
  /** By the id of the endpoint. */
  readonly #connections = new Map<number, Set<LiveConnection>>();
  /** All connections, with the turns in which they are pinged. */
  readonly #turns = new Map<LiveConnection, number>();
  #lastTurn = 0;
  readonly #gapReads = new SharedReads<string, readonly RequestEvent[] | undefined>();
  readonly #memory: LiveMemory;
  readonly #pings: NodeJS.Timeout;
  readonly #poll: LivePoll;
  readonly #changeHandlers: ((endpointId: number, isDeleted: boolean) => void)[] = [];
  #closed = false;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#memory = options.memory ?? newLiveMemory();
    this.#ticker = new EndpointTicker((endpointId) => this.#sendEndpoint(endpointId), options.onFailure);
    this.#pings = setInterval(() => this.#pingSome(), (options.pingMs ?? PING_MS) / PING_TURNS).unref();
    this.#poll = new LivePoll({
      ...options,
      connections: () => this.#all(),
      deliver: (endpointId, event) => this.#deliver(endpointId, event),
      refresh: (endpointId) => this.#refresh(endpointId),
    });
    options.bus.subscribe((notice) => this.#receive(notice));
  }

  get viewerCount(): number {
    return this.#turns.size;
  }

  /** Whether the endpoint may have a live connection, on this node or another one. */
  mayHaveViewers(endpointId: number): boolean {
    return this.#connections.has(endpointId) || this.#options.bus.nodeCount > 1;
  }

  captured(endpointId: number, capture: StoredCapture, stored: StoredAs): void {
    if (this.#connections.has(endpointId)) this.#deliver(endpointId, eventOfCapture(endpointId, capture, stored));
    this.#options.bus.captured(endpointId, stored.index);
  }

  /** Sends a change to the live connections of all nodes, after its commit. */
  publish(notice: LiveNotice): void {
    this.#receive(notice);
    this.#options.bus.publish(notice);
  }

  /** The same for a change whose content this node has. The other nodes read it. */
  publishContent(notice: Extract<LiveNotice, { kind: 'saved' | 'delivered' }>, event: ContentEvent): void {
    this.#deliver(notice.endpointId, event);
    this.#options.bus.publish(notice);
  }

  /** Calls `handle` when an endpoint was changed or deleted, on this node or on another one. */
  onEndpointChange(handle: (endpointId: number, isDeleted: boolean) => void): void {
    this.#changeHandlers.push(handle);
  }

  #deliver(endpointId: number, event: FeedEvent | UnresolvedEvent): void {
    for (const connection of this.#watching(endpointId)) connection.take(event);
    this.#touch(endpointId);
  }

  /** Sends the endpoint's figures soon, if it has a live connection. */
  #touch(endpointId: number): void {
    if (this.#connections.has(endpointId)) this.#ticker.touch(endpointId);
  }

  /** Sends new inits and new figures, because events of the endpoint were lost. */
  #refresh(endpointId: number): void {
    for (const connection of this.#watching(endpointId)) connection.refresh();
    this.#ticker.touch(endpointId);
  }

  #receive(notice: Notice): void {
    switch (notice.kind) {
      case 'captured':
        for (const [endpointId, upTo] of notice.newest) this.#deliver(endpointId, { type: 'stored', upTo });
        return;
      case 'saved':
      case 'deleted':
      case 'clear':
      case 'delivered':
        for (const event of eventsOf(notice, this.#options)) this.#deliver(notice.endpointId, event);
        return;
      case 'changed':
        for (const handle of this.#changeHandlers) handle(notice.endpointId, false);
        return this.#touch(notice.endpointId);
      case 'gone':
        for (const handle of this.#changeHandlers) handle(notice.endpointId, true);
        for (const connection of this.#watching(notice.endpointId)) connection.close(LIVE_CLOSE_ENDPOINT_GONE);
        return;
      case 'session':
        return this.#closeMatching(({ sessionId }) => sessionId === notice.id, LIVE_CLOSE_SIGNED_OUT);
      case 'user':
        return this.#closeMatching(
          ({ userId, sessionId }) => userId === notice.id && sessionId !== notice.exceptSessionId,
          LIVE_CLOSE_SIGNED_OUT,
        );
    }
  }

  /** @throws ProblemError if the server stops, or the user has too many connections */
  expectConnectionAllowed(userId: number): void {
    if (this.#closed) throw new ProblemError('UNAVAILABLE', { retryAfter: RETRY_SECONDS });
    const own = this.#all().filter((connection) => connection.userId === userId);
    if (own.length >= MAX_PER_USER) throw new ProblemError('RATE_LIMITED', { retryAfter: RETRY_SECONDS });
  }

  /** Closes all connections and accepts no new ones, because the server stops. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#pings);
    this.#poll.close();
    this.#ticker.stop();
    this.#closeMatching(() => true, 1001);
  }

  /** Begins the live connection of a checked viewer. */
  connect(socket: WebSocket, transport: Duplex, { loggedIn: { user, session }, endpoint }: Viewer): void {
    const { store, onFailure } = this.#options;
    const { id, uid } = endpoint;
    const connection = new LiveConnection({
      socket,
      transport,
      userId: user.id,
      sessionId: session.id,
      endpoint: { id, uid },
      store,
      readRequests: (after, upTo) => this.#readRequests(user.id, id, after, upTo),
      memory: this.#memory,
      onFailure,
      onClosed: () => this.#remove(connection),
    });
    // Registered before the snapshot is read, so that events in between are kept.
    this.#connections.set(id, (this.#connections.get(id) ?? new Set()).add(connection));
    this.#turns.set(connection, (this.#lastTurn + this.#turns.size) % PING_TURNS);
    connection.start();
    void this.#poll.check([connection]);
  }

  #remove(connection: LiveConnection): void {
    const { id } = connection.endpoint;
    this.#turns.delete(connection);
    const left = this.#connections.get(id);
    left?.delete(connection);
    if (left?.size === 0) this.#connections.delete(id);
  }

  /** Connections of an endpoint need the same requests at the same time, so they share a read and its events. */
  #readRequests(userId: number, endpointId: number, after: number, upTo: number) {
    return this.#gapReads.run(`${endpointId} ${after} ${upTo}`, () =>
      this.#memory.reads.run(userId, () => this.#readMissing(endpointId, after, upTo)),
    );
  }

  /** Requests with an index above `after`, up to `upTo`. */
  async #readMissing(endpointId: number, after: number, upTo: number): Promise<readonly RequestEvent[] | undefined> {
    const page = { before: upTo + 1, limit: MAX_GAP, bodyBytes: BODY_PREVIEW_BYTES };
    const records = await this.#options.store.listRequests({ endpointId, which: 'any', ...page });
    const missing = records.filter((record) => record.index > after);
    return missing.length === MAX_GAP ? undefined : missing.toReversed().map(eventOfRecord);
  }

  async #sendEndpoint(endpointId: number): Promise<void> {
    const uid = this.#watching(endpointId)[0]?.endpoint.uid;
    if (uid === undefined) return;
    const message = await this.#options.describeEndpoint(uid);
    if (message !== undefined) for (const connection of this.#watching(endpointId)) connection.takeEndpoint(message);
  }

  #all(): LiveConnection[] {
    return [...this.#turns.keys()];
  }

  /** A copy, because a connection may end while it takes an event. */
  #watching(endpointId: number): LiveConnection[] {
    return [...(this.#connections.get(endpointId) ?? [])];
  }

  #pingSome(): void {
    this.#lastTurn = (this.#lastTurn + 1) % PING_TURNS;
    const turn = this.#lastTurn;
    const some = this.#all().filter((connection) => this.#turns.get(connection) === turn);
    for (const connection of some) connection.ping();
    void this.#poll.check(some);
  }

  #closeMatching(matches: (connection: LiveConnection) => boolean, code: CloseCode): void {
    for (const connection of this.#all()) if (matches(connection)) connection.close(code);
  }
}
