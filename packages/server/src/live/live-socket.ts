import { LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { SignedIn } from '../accounts/sessions.ts';
import type { EndpointRecord, RequestStore } from '../storage/store.ts';
import { EndpointTicker } from './endpoint-ticker.ts';
import { Hub } from './hub.ts';
import type { LiveEvent } from './live-event.ts';
import type { Live } from './live.ts';
import { Viewer } from './viewer.ts';

const PING_MS = 30_000;
/** Viewers have nothing to say; a large message is not read. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Messages from a viewer per ping interval, beyond pongs, before it is taken for a flood. */
const MAX_MESSAGES = 1000;
const POLICY_VIOLATION = 1008;
const GOING_AWAY = 1001;

interface Peer {
  readonly socket: WebSocket;
  readonly viewer: Viewer;
  readonly endpoint: { readonly id: number; readonly uid: string };
  readonly sessionId: string;
  readonly userId: number;
  alive: boolean;
  messages: number;
}

export interface LiveSocketOptions {
  readonly store: Pick<RequestStore, 'listRequests'>;
  /** The `endpoint` message for a uid; `undefined` when it is gone. */
  readonly describeEndpoint: (uid: string) => Promise<Extract<LiveMessage, { type: 'endpoint' }> | undefined>;
  /** Whether a session still holds; asked with every ping. */
  readonly isSignedIn: (sessionId: string) => Promise<boolean>;
  readonly onFailure: (error: unknown) => void;
}

/** All live sockets of this process (contract 5). */
export class LiveSockets implements Live {
  readonly #options: LiveSocketOptions;
  readonly #hub: Hub;
  readonly #ticker: EndpointTicker;
  readonly #peers = new Set<Peer>();
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES, clientTracking: false });
  readonly #pings: NodeJS.Timeout;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
    this.#hub = new Hub(options.onFailure);
    this.#ticker = new EndpointTicker((endpointId) => void this.#tellEndpoint(endpointId).catch(options.onFailure));
    this.#pings = setInterval(() => this.#ping(), PING_MS);
    this.#pings.unref();
  }

  get viewerCount(): number {
    return this.#peers.size;
  }

  isWatched(endpointId: number): boolean {
    return this.#hub.isWatched(endpointId);
  }

  publish(endpointId: number, event: LiveEvent): void {
    this.#hub.publish(endpointId, event);
    if (event.type !== 'gone' && this.#hub.isWatched(endpointId)) this.#ticker.touch(endpointId);
  }

  endSession(sessionId: string): void {
    this.#closeWhere((peer) => peer.sessionId === sessionId, LIVE_CLOSE_SIGNED_OUT, 'signed out');
  }

  endUserSessions(userId: number, exceptSessionId?: string): void {
    this.#closeWhere((peer) => peer.userId === userId && peer.sessionId !== exceptSessionId, LIVE_CLOSE_SIGNED_OUT, 'signed out');
  }

  /** Completes an upgrade that was checked: who, where from, and that the endpoint is theirs. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, signedIn: SignedIn, endpoint: EndpointRecord): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => this.#connect(webSocket, socket, signedIn, endpoint));
  }

  /** Sends everybody away: the server stops. */
  close(): void {
    clearInterval(this.#pings);
    this.#ticker.stop();
    this.#closeWhere(() => true, GOING_AWAY, 'the server stops');
  }

  #connect(socket: WebSocket, wire: Duplex, signedIn: SignedIn, endpoint: EndpointRecord): void {
    const outlet = {
      send: (frame: string) => socket.send(frame),
      pendingBytes: () => socket.bufferedAmount,
      cork: () => wire.cork(),
      uncork: () => wire.uncork(),
    };
    const viewer = new Viewer(endpoint.id, this.#options.store, outlet, this.#options.onFailure);
    const peer: Peer = { socket, viewer, endpoint, sessionId: signedIn.session.id, userId: signedIn.user.id, alive: true, messages: 0 };
    // Subscribed before the snapshot is read: what comes in between is held, not lost.
    const unsubscribe = this.#hub.subscribe(endpoint.id, (event) => {
      if (event.type === 'gone') socket.close(LIVE_CLOSE_ENDPOINT_GONE, 'the endpoint is gone');
      else if (event.type !== 'changed') viewer.take(event);
    });
    this.#peers.add(peer);
    socket.on('pong', () => {
      peer.alive = true;
    });
    socket.on('message', () => {
      peer.messages += 1;
      if (peer.messages > MAX_MESSAGES) socket.close(POLICY_VIOLATION, 'too many messages');
    });
    // A protocol error closes the socket by itself; without a listener it would end the process.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      unsubscribe();
      viewer.stop();
      this.#peers.delete(peer);
    });
    viewer.start();
  }

  async #tellEndpoint(endpointId: number): Promise<void> {
    const watching = [...this.#peers].filter((peer) => peer.endpoint.id === endpointId);
    const [first] = watching;
    if (first === undefined) return;
    const message = await this.#options.describeEndpoint(first.endpoint.uid);
    if (message !== undefined) for (const peer of watching) peer.viewer.sendNow(message);
  }

  #ping(): void {
    for (const peer of this.#peers) {
      if (!peer.alive) {
        peer.socket.terminate();
        continue;
      }
      peer.alive = false;
      peer.messages = 0;
      peer.socket.ping();
      this.#options.isSignedIn(peer.sessionId).then((still) => {
        if (!still) peer.socket.close(LIVE_CLOSE_SIGNED_OUT, 'signed out');
      }, this.#options.onFailure);
    }
  }

  #closeWhere(matches: (peer: Peer) => boolean, code: number, reason: string): void {
    for (const peer of this.#peers) if (matches(peer)) peer.socket.close(code, reason);
  }
}
