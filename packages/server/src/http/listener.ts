import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { answerBroken, KEEP_ALIVE_MS, rawRefusal } from './raw-response.ts';
import { inspectHead } from './inspect-head.ts';
import { parsedConnection } from './parsed-connection.ts';
import type { Dispatch, HeadListener } from './dispatch.ts';

const KIB = 1024;

/** Bytes of a head at most; over it the response is 431. Node refuses the number itself, so it gets one more. */
const MAX_HEADER_BYTES = 64 * KIB;
/** A head is there within 15 s and a whole request within 60 s, looked at every 5 s; slower senders are cut off. */
export const HEADERS_TIMEOUT_MS = 15_000;
export const REQUEST_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 5000;

export interface ListenerTimeouts {
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly checkMs?: number;
}

/** The bare HTTP server in front of everything, configured so that it keeps what senders send. */
export function createListener(
  { onRequest, onContinue }: Dispatch,
  mayUpgrade: (request: IncomingMessage) => boolean,
  timeouts: ListenerTimeouts = {},
): Server {
  /** Ends the connection with this response where nothing behind the request may be read. */
  const guarded =
    (handle: HeadListener): RequestListener =>
    (request, response) => {
      const head = inspectHead(request.method ?? '', request.rawHeaders);
      // Node's parser takes what follows a request that asks for an upgrade for the other protocol's bytes, and drops them. So the
      // connection ends with the response: nothing behind it is lost without a word, or read as a request.
      if (!server.listening || head.asksForUpgrade) response.shouldKeepAlive = false;
      parsedConnection(request.socket)?.begin(request, response, head);
      handle(request, response, head);
    };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES + 1,
      headersTimeout: timeouts.headersMs ?? HEADERS_TIMEOUT_MS,
      requestTimeout: timeouts.requestMs ?? REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: timeouts.checkMs ?? CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Java's client asks for `h2c` with every webhook. Without this, an 'upgrade' listener would swallow those requests.
      shouldUpgradeCallback: mayUpgrade,
      // Node's own refusal has no body, and what is sent behind it would be taken; `isAmbiguous` refuses it.
      requireHostHeader: false,
    },
    guarded(onRequest),
  );
  // By default Node drops headers past 2,000 lines without a word. Their bytes are bounded above.
  server.maxHeadersCount = 0;
  // Neither reads nor writes: a client that does not fetch its response is cut off. A replay is the longest call, at 30 s.
  server.timeout = KEEP_ALIVE_MS;
  // A sender that says "no more bytes" after its request (as `nc` does) still waits for the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('checkContinue', guarded(onContinue));
  // What else a sender may expect is not known to us and no reason to turn it away (RFC 9110 10.1.1); Node would, without our headers.
  server.on('checkExpectation', guarded(onRequest));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    parsedConnection(socket)?.release();
    // The server no longer listens for errors of this socket, or closes it.
    socket.on('error', () => undefined);
    const refusal = rawRefusal('METHOD_NOT_ALLOWED', { allow: 'GET, POST', keepsAlive: false });
    socket.end(refusal, () => socket.destroySoon());
  });
  server.on('clientError', answerParseError);
  return server;
}

/** Lets `upgrade` decide about what `mayUpgrade` lets through. */
export function takeUpgrades(
  server: Server,
  upgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => Promise<void>,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    parsedConnection(socket)?.release();
    // Without a listener, a peer that vanishes meanwhile would end the process.
    socket.on('error', () => undefined);
    void upgrade(request, socket, head);
  });
}

/** Answers what is not HTTP, or does not arrive in time, and closes the connection. Earlier requests have been answered by then. */
function answerParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'HEADERS_TOO_LARGE'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'REQUEST_TIMEOUT'
        : 'BAD_REQUEST';
  const connection = parsedConnection(socket);
  const response = connection?.response;
  if (response === undefined) socket.end(rawRefusal(code, { keepsAlive: false }), () => socket.destroySoon());
  // The body is broken, and the response was not begun.
  else if (!response.headersSent) answerBroken(response, code);
  else if (response.writableEnded) socket.destroySoon();
  else response.end(() => socket.destroySoon());
  connection?.cutOff();
}
