import { BODY_PREVIEW_BYTES, LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { SignedIn } from '../../http/call.ts';
import type { EndpointRecord, EndpointStore, RequestStore } from '../../database/store.ts';
import { EndpointTicker } from './endpoint-ticker.ts';
import { LiveConnection } from './live-connection.ts';
import type { CloseCode } from './live-connection.ts';
import { recordEvent } from './live-events.ts';
import type { EndpointMessage, LiveEvent, RequestEvent } from './live-events.ts';
import { LiveMemory } from './live-memory.ts';
import { refuseUpgrade } from './upgrade.ts';

const PING_MS = 30_000;
/** Maximum live connections of one user, over all endpoints and sessions. */
const MAX_PER_USER = 100;
/** Maximum number of requests that are read to fill a gap. If there are more, connections get a new `init`. */
const MAX_GAP = 250;
/** Viewers have nothing to send, so their messages are small. @types/ws 8.18 lacks some of these options. */
const SOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: 64 * 1024,
  maxFragments: 1024,
  maxBufferedChunks: 1024,
  /** Milliseconds for the closing handshake; the socket must be closed within a second. */
  closeTimeout: 900,
};

/** The live view's interface for the rest of the server. */
export interface Live {
  /** True when the endpoint has a viewer. */
  isWatched(endpointId: number): boolean;
  publish(endpointId: number, event: LiveEvent): void;
  /** Closes the connections of an ended session with 4401. */
  endSession(sessionId: string): void;
  /** Closes the connections of all sessions of a user except one. */
  endUserSessions(userId: number, exceptSessionId?: string): void;
}

export interface LiveServiceOptions {
  readonly store: Pick<RequestStore, 'listRequests'> & Pick<EndpointStore, 'findEndpoint'>;
  /** The `endpoint` message of a uid; `undefined` when it does not exist. */
  readonly describeEndpoint: (uid: string) => Promise<EndpointMessage | undefined>;
  /** Whether a session is still valid; called at the start and with every ping. */
  readonly isSignedIn: (sessionId: string) => Promise<boolean>;
  readonly onFailure: (error: unknown) => void;
  /**
   * Milliseconds between two pings. A peer that did not answer the previous one, or read none of the data that waits
   * for it, is dropped.
   */
  readonly pingMs?: number | undefined;
  /** Memory that all viewers share. */
  readonly memory?: LiveMemory | undefined;
}

/** All live connections of this process. Publishing to them never waits and never fails. */
export class LiveService implements Live {
  readonly #options: LiveServiceOptions;
  readonly #ticker: EndpointTicker;
  readonly #connections = new Map<number, Set<LiveConnection>>();
  readonly #gapReads = new Map<string, Promise<readonly RequestEvent[] | undefined>>();
  readonly #memory: LiveMemory;
  readonly #server = new WebSocketServer(SOCKET_OPTIONS);
  readonly #pings: NodeJS.Timeout;
  #closed = false;

  constructor(options: LiveServiceOptions) {
    this.#options = options;
    this.#memory = options.memory ?? new LiveMemory();
    this.#ticker = new EndpointTicker((endpointId) => this.#tellEndpoint(endpointId).catch(options.onFailure));
    this.#pings = setInterval(() => this.#pingAll(), options.pingMs ?? PING_MS);
    this.#pings.unref();
    // An invalid handshake gets the same error format as every other request.
    this.#server.on('wsClientError', (_error, socket) => refuseUpgrade(socket, 'BAD_REQUEST'));
  }

  get viewerCount(): number {
    return this.#all().length;
  }

  isWatched(endpointId: number): boolean {
    return this.#connections.has(endpointId);
  }

  publish(endpointId: number, event: LiveEvent): void {
    for (const connection of this.#watching(endpointId)) connection.take(event);
    if (event.type !== 'endpoint-deleted' && this.isWatched(endpointId)) this.#ticker.touch(endpointId);
  }

  endSession(sessionId: string): void {
    this.#sendAway((connection) => connection.sessionId === sessionId, LIVE_CLOSE_SIGNED_OUT);
  }

  endUserSessions(userId: number, exceptSessionId?: string): void {
    this.#sendAway(
      (connection) => connection.userId === userId && connection.sessionId !== exceptSessionId,
      LIVE_CLOSE_SIGNED_OUT,
    );
  }

  /** Completes an upgrade after its checks: authenticated user, same origin, and ownership of the endpoint. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, signedIn: SignedIn, endpoint: EndpointRecord): void {
    if (this.#closed) return refuseUpgrade(socket, 'UNAVAILABLE');
    const own = this.#all().filter((connection) => connection.userId === signedIn.user.id);
    if (own.length >= MAX_PER_USER) return refuseUpgrade(socket, 'RATE_LIMITED');
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#connect(webSocket, socket, signedIn, endpoint),
    );
  }

  /** Closes all connections and accepts no new ones, because the server stops. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#pings);
    this.#ticker.stop();
    this.#sendAway(() => true, 1001);
  }

  #connect(socket: WebSocket, wire: Duplex, { user, session }: SignedIn, { id, uid }: EndpointRecord): void {
    const { store, onFailure } = this.#options;
    const connection = new LiveConnection({
      socket,
      wire,
      userId: user.id,
      sessionId: session.id,
      endpoint: { id, uid },
      store,
      readRequests: (after, upTo) => this.#readRequests(id, after, upTo),
      share: this.#memory.share(user.id),
      onFailure,
      onClosed: () => this.#remove(connection),
    });
    // Registered before the snapshot is read, so that events in between are kept.
    this.#connections.set(id, (this.#connections.get(id) ?? new Set()).add(connection));
    connection.start();
    void this.#recheck(connection);
  }

  #remove(connection: LiveConnection): void {
    const { id } = connection.endpoint;
    const left = this.#connections.get(id);
    left?.delete(connection);
    if (left?.size === 0) this.#connections.delete(id);
  }

  /** Connections of an endpoint need the same requests at the same time, so they share a read and its events. */
  #readRequests(endpointId: number, after: number, upTo: number): Promise<readonly RequestEvent[] | undefined> {
    const key = `${endpointId} ${after} ${upTo}`;
    const running = this.#gapReads.get(key);
    if (running !== undefined) return running;
    const read = this.#options.store
      .listRequests({ endpointId, which: 'any', before: upTo + 1, limit: MAX_GAP, bodyBytes: BODY_PREVIEW_BYTES })
      .then((records) => {
        const missing = records.filter((record) => record.index > after);
        return missing.length === MAX_GAP ? undefined : missing.toReversed().map(recordEvent);
      })
      .finally(() => this.#gapReads.delete(key));
    this.#gapReads.set(key, read);
    return read;
  }

  async #tellEndpoint(endpointId: number): Promise<void> {
    const uid = this.#watching(endpointId)[0]?.endpoint.uid;
    if (uid === undefined) return;
    const message = await this.#options.describeEndpoint(uid);
    if (message !== undefined) for (const connection of this.#watching(endpointId)) connection.takeEndpoint(message);
  }

  #all(): LiveConnection[] {
    return [...this.#connections.values()].flatMap((connections) => [...connections]);
  }

  /** A copy, because a connection may end while it takes an event. */
  #watching(endpointId: number): LiveConnection[] {
    return [...(this.#connections.get(endpointId) ?? [])];
  }

  #pingAll(): void {
    for (const connection of this.#all()) {
      connection.ping();
      void this.#recheck(connection);
    }
  }

  /**
   * Whether the viewer is still authorized. Checked after registration, because a session or endpoint that ended during
   * the upgrade did not find the connection.
   */
  async #recheck(connection: LiveConnection): Promise<void> {
    try {
      const [signedIn, endpoint] = await Promise.all([
        this.#options.isSignedIn(connection.sessionId),
        this.#options.store.findEndpoint(connection.endpoint.uid),
      ]);
      if (!signedIn) connection.sendAway(LIVE_CLOSE_SIGNED_OUT);
      else if (endpoint === undefined) connection.sendAway(LIVE_CLOSE_ENDPOINT_GONE);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #sendAway(matches: (connection: LiveConnection) => boolean, code: CloseCode): void {
    for (const connection of this.#all()) if (matches(connection)) connection.sendAway(code);
  }
}
