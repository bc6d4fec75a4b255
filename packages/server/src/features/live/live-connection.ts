import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT } from '@creel/contract';
import type { SignedIn } from '../../http/call.ts';
import type { EndpointRecord } from '../../database/store.ts';
import type { LiveEvent } from './live.ts';
import type { Share } from './live-memory.ts';
import { Viewer } from './viewer.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';

/** Frames from a viewer between two pings, including control frames, that count as a flood. */
const MAX_FRAMES = 1000;

/** Close codes (RFC 6455 7.4; docs/api.md, "Live"). */
const REASONS = {
  [LIVE_CLOSE_SIGNED_OUT]: 'signed out',
  [LIVE_CLOSE_ENDPOINT_GONE]: 'the endpoint is gone',
  1001: 'the server stops',
  1008: 'too many messages',
} as const;
export type CloseCode = keyof typeof REASONS;

export interface LiveConnectionOptions {
  readonly socket: WebSocket;
  /** The connection under the WebSocket. */
  readonly wire: Duplex;
  readonly signedIn: SignedIn;
  readonly endpoint: EndpointRecord;
  readonly store: Pick<Remote<typeof requestQueries>, 'listRequests'>;
  /** The memory that it may hold. */
  readonly share: Share;
  readonly onFailure: (error: unknown) => void;
  /** Called once, when the connection ends. */
  readonly onClosed: (connection: LiveConnection) => void;
}

/** One live connection: its user, its endpoint, and whether the peer responds. */
export class LiveConnection {
  readonly endpoint: { readonly id: number; readonly uid: string };
  readonly sessionId: string;
  readonly userId: number;
  readonly viewer: Viewer;
  readonly #socket: WebSocket;
  readonly #onClosed: (connection: LiveConnection) => void;
  #isClosed = false;
  #alive = true;
  #frames = 0;
  /** Whether data was waiting at the last ping, whether any did since, and whether the peer read some of it. */
  #waitedAtPing = false;
  #waited = false;
  #progressed = false;
  readonly #noteTaken = (): void => {
    if (this.#waited) this.#progressed = true;
    this.viewer.noteTaken();
  };

  constructor({ socket, wire, signedIn, endpoint, store, share, onFailure, onClosed }: LiveConnectionOptions) {
    this.#socket = socket;
    this.#onClosed = onClosed;
    this.endpoint = { id: endpoint.id, uid: endpoint.uid };
    this.sessionId = signedIn.session.id;
    this.userId = signedIn.user.id;
    const connection = {
      send: (frame: string) => socket.send(frame, this.#noteTaken),
      // A Buffer, so that the backlog is counted in bytes.
      sendPart: (text: string, isLast: boolean) => {
        socket.send(Buffer.from(text), { binary: false, fin: isLast }, this.#noteTaken);
        this.#noteWaiting();
      },
      pendingBytes: () => socket.bufferedAmount,
      cork: () => wire.cork(),
      uncork: () => {
        wire.uncork();
        this.#noteWaiting();
      },
    };
    this.viewer = new Viewer(endpoint.id, store, connection, onFailure, share);
    socket.on('message', () => this.#count());
    socket.on('ping', () => this.#count());
    socket.on('pong', () => {
      this.#alive = true;
      this.#count();
    });
    // A protocol error closes the socket. Without a listener it would end the process.
    socket.on('error', () => this.#end());
    socket.on('close', () => {
      this.#end();
      this.viewer.release();
    });
  }

  take(event: LiveEvent): void {
    if (event.type === 'endpoint-deleted') this.sendAway(LIVE_CLOSE_ENDPOINT_GONE);
    else if (event.type !== 'changed') this.viewer.take(event);
  }

  /** Sends a ping. Drops the connection if the peer has not responded since the last one. */
  ping(): void {
    if (!this.#hasLived()) {
      this.#socket.terminate();
      return;
    }
    this.#alive = false;
    this.#frames = 0;
    this.#waited = false;
    this.#progressed = false;
    this.#socket.ping(undefined, undefined, this.#noteTaken);
    this.#noteWaiting();
    this.#waitedAtPing = this.#waited;
  }

  /**
   * If data waited all the time, the peer must have read some of it, because it can send pongs without reading.
   * Otherwise a pong is enough, or data that began to wait only now and may delay the ping.
   */
  #hasLived(): boolean {
    return this.#waitedAtPing ? this.#progressed : this.#alive || this.#waited;
  }

  #noteWaiting(): void {
    if (this.#socket.bufferedAmount > 0) this.#waited = true;
  }

  /** Closes with a code. A peer that does not answer is cut off soon (`closeTimeout` in live-connections.ts). */
  sendAway(code: CloseCode): void {
    this.#end();
    this.#socket.close(code, REASONS[code]);
  }

  #count(): void {
    this.#frames += 1;
    if (this.#frames > MAX_FRAMES) this.sendAway(1008);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.viewer.stop();
    this.#onClosed(this);
  }
}
