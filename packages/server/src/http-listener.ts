import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerBroken, isClosing, KEEP_ALIVE_MS, rawRefusal } from './capture/answers.ts';
import { PlainConnections } from './capture/plain-connection.ts';
import type { PlainHandler } from './capture/plain-connection.ts';
import { isLiveUpgrade } from './live/upgrade.ts';
import type { Switchboard } from './switchboard.ts';

const KIB = 1024;

/** Bytes of a head at most; over it the answer is 431 (contract 3). Node refuses the number itself, so it is told one more. */
const MAX_HEADER_BYTES = 64 * KIB;
/** A head is there within 15 s and a whole request within 60 s, looked at every 5 s; slower senders are cut off. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 5000;

/** The newest request's answer on each connection. */
const lastAnswers = new WeakMap<Socket, ServerResponse>();
/** Connections on which an upgrade was asked for that there is none of: nothing behind that request is read. */
const endsWithUpgrade = new WeakSet<Socket>();

export interface ListenerTimeouts {
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly checkMs?: number;
}

/** The bare HTTP server in front of everything, set so that it keeps what senders send. */
export function createListener({ onRequest, onContinue }: Switchboard, timeouts: ListenerTimeouts = {}): Server {
  /** Leaves requests alone that were sent behind one that ended the connection; says goodbye with every answer once it is being closed. */
  const guarded =
    (handle: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request;
      if (isClosing(socket) || endsWithUpgrade.has(socket)) return;
      lastAnswers.set(socket, response);
      if (asksForUpgrade(request)) endsWithUpgrade.add(socket);
      if (!server.listening || endsWithUpgrade.has(socket)) response.shouldKeepAlive = false;
      handle(request, response);
    };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES + 1,
      headersTimeout: timeouts.headersMs ?? HEADERS_TIMEOUT_MS,
      requestTimeout: timeouts.requestMs ?? REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: timeouts.checkMs ?? CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Java's client asks for `h2c` with every webhook. Without this, an 'upgrade' listener would swallow those requests.
      shouldUpgradeCallback: (request: IncomingMessage) => isLiveUpgrade(request),
      // Node's own refusal has no body, and what is sent behind it would be taken; `isAmbiguous` refuses it.
      requireHostHeader: false,
    },
    guarded(onRequest),
  );
  // By default Node drops headers past 2,000 lines without a word. Their bytes are bounded above.
  server.maxHeadersCount = 0;
  // A sender that says "no more bytes" after its request (as `nc` does) still waits for the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('checkContinue', guarded(onContinue));
  // What else a sender may expect is not known to us and no reason to turn it away (RFC 9110 10.1.1); Node would, without our headers.
  server.on('checkExpectation', guarded(onRequest));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has let go of this socket: nobody else listens for its errors, or hangs up.
    socket.on('error', () => undefined);
    afterAnswers(socket, () => {
      const refusal = rawRefusal('METHOD_NOT_ALLOWED', { allow: 'GET, POST', keepsAlive: false });
      socket.end(refusal, () => socket.destroySoon());
    });
  });
  server.on('clientError', answerParseError);
  return server;
}

/**
 * Puts a reader of plain requests in front of a server's parser, which gets every connection that says something else: what the parser
 * is told of a connection is the same as if it had been alone.
 */
export function readPlainFirst(server: Server, handle: PlainHandler): PlainConnections {
  const parser = server.listeners('connection');
  server.removeAllListeners('connection');
  const connections = new PlainConnections({
    handle,
    isOpen: () => server.listening,
    handOver: (socket) => {
      for (const listener of parser) Reflect.apply(listener, server, [socket]);
    },
    keepAliveMs: KEEP_ALIVE_MS,
  });
  server.on('connection', (socket: Socket) => connections.adopt(socket));
  return connections;
}

/**
 * Node's parser takes what follows a request with these two headers for the other protocol's, and drops what it has read of it. So the
 * connection ends with the answer: what is sent behind it is not lost without a word, and no later byte is taken for a request.
 */
function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(^|,)\s*upgrade\s*(,|$)/i.test(headers.connection ?? '');
}

/** Lets `upgrade` decide about what `isLiveUpgrade` lets through, behind the answers to what was sent before it. */
export function takeUpgrades(
  server: Server,
  upgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => Promise<void>,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Without a listener, a peer that vanishes meanwhile would end the process.
    socket.on('error', () => undefined);
    afterAnswers(socket, () => void upgrade(request, socket, head));
  });
}

/** Calls `next` once every request before on this connection was answered, for what Node takes out of their queue. */
function afterAnswers(socket: Socket, next: () => void): void {
  const before = lastAnswers.get(socket);
  if (before === undefined || before.writableFinished) next();
  else before.once('finish', next);
}

/**
 * What is not HTTP gets a plain answer and a closed connection: behind the answers to the whole requests before it, since a sender
 * takes the first answer for that of its first request (RFC 9112 9.3.2).
 */
function answerParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Already refused: the rest is not looked at, so what is wrong with it is not said.
  if (isClosing(socket)) return afterAnswers(socket, () => socket.destroySoon());
  const code =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'HEADERS_TOO_LARGE'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'REQUEST_TIMEOUT'
        : 'BAD_REQUEST';
  const broken = lastAnswers.get(socket);
  // Its head was read, its body can't be: it has a place among the answers.
  if (broken !== undefined && !broken.req.complete && !broken.headersSent) return answerBroken(broken, code);
  afterAnswers(socket, () => {
    // The answer before may have been the connection's last: then nothing behind it is answered.
    if (socket.writable) socket.end(rawRefusal(code, { keepsAlive: false }), () => socket.destroySoon());
  });
}
