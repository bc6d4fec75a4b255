import { LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { SignedIn } from '../../http/call.ts';
import type { EndpointRecord } from '../../database/store.ts';
import { EndpointTicker } from './endpoint-ticker.ts';
import { Hub } from './hub.ts';
import type { EndpointMessage, LiveEvent, Live } from './live.ts';
import { LiveMemory } from './live-memory.ts';
import { LiveConnection } from './live-connection.ts';
import type { CloseCode } from './live-connection.ts';
import { refuseUpgrade } from './upgrade.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';
import type { endpointQueries } from '../endpoints/queries.ts';

const PING_MS = 30_000;
/** Maximum live connections of one user, over all endpoints and sessions. */
const MAX_PER_USER = 100;
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

export interface LiveSocketOptions {
  readonly store: Pick<Remote<typeof requestQueries>, 'listRequests'> &
    Pick<Remote<typeof endpointQueries>, 'findEndpoint'>;
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

/** All live connections of this process. */
export class LiveConnections implements Live {
  readonly #options: LiveSocketOptions;
  readonly #hub: Hub;
  readonly #ticker: EndpointTicker;
  readonly #connections = new Set<LiveConnection>();
  readonly #memory: LiveMemory;
  readonly #server = new WebSocketServer(SOCKET_OPTIONS);
  readonly #pings: NodeJS.Timeout;
  #closed = false;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
    this.#hub = new Hub(options.onFailure);
    this.#memory = options.memory ?? new LiveMemory();
    this.#ticker = new EndpointTicker((endpointId) => this.#tellEndpoint(endpointId).catch(options.onFailure));
    this.#pings = setInterval(() => this.#pingAll(), options.pingMs ?? PING_MS);
    this.#pings.unref();
    // An invalid handshake gets the same error format as every other request.
    this.#server.on('wsClientError', (_error, socket) => refuseUpgrade(socket, 'BAD_REQUEST'));
  }

  get viewerCount(): number {
    return this.#connections.size;
  }

  isWatched(endpointId: number): boolean {
    return this.#hub.isWatched(endpointId);
  }

  publish(endpointId: number, event: LiveEvent): void {
    this.#hub.publish(endpointId, event);
    if (event.type !== 'endpoint-deleted' && this.#hub.isWatched(endpointId)) this.#ticker.touch(endpointId);
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
    if (this.#viewersOf(signedIn.user.id) >= MAX_PER_USER) return refuseUpgrade(socket, 'RATE_LIMITED');
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

  #connect(socket: WebSocket, wire: Duplex, signedIn: SignedIn, endpoint: EndpointRecord): void {
    const { store, onFailure } = this.#options;
    const onClosed = (connection: LiveConnection): void => {
      unsubscribe();
      this.#connections.delete(connection);
    };
    const share = this.#memory.share(signedIn.user.id);
    const connection = new LiveConnection({ socket, wire, signedIn, endpoint, store, share, onFailure, onClosed });
    // Subscribes before reading the snapshot, so that events in between are kept.
    const unsubscribe = this.#hub.subscribe(endpoint.id, (event) => connection.take(event));
    this.#connections.add(connection);
    connection.viewer.start();
    void this.#recheck(connection);
  }

  async #tellEndpoint(endpointId: number): Promise<void> {
    const uid = this.#watching(endpointId)[0]?.endpoint.uid;
    if (uid === undefined) return;
    const message = await this.#options.describeEndpoint(uid);
    if (message !== undefined)
      for (const connection of this.#watching(endpointId)) connection.viewer.takeEndpoint(message);
  }

  #viewersOf(userId: number): number {
    return [...this.#connections].filter((connection) => connection.userId === userId).length;
  }

  #watching(endpointId: number): LiveConnection[] {
    return [...this.#connections].filter((connection) => connection.endpoint.id === endpointId);
  }

  #pingAll(): void {
    for (const connection of this.#connections) {
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
    for (const connection of this.#connections) if (matches(connection)) connection.sendAway(code);
  }
}
