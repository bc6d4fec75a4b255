import { HEADER_SEPARATOR_BYTES, MAX_HEADER_BYTES, MAX_HEAD_BYTES } from '@creel/contract';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerBroken, KEEP_ALIVE_MS, rawRefusal, answerRefused } from './raw-response.ts';
import type { Preflight } from './raw-response.ts';
import { parsedConnection } from './parsed-connection.ts';
import { linger } from './read-body.ts';
import { turnOwner } from './loop-turns.ts';
import type { LoopTurns } from './loop-turns.ts';

/** Slower senders are cut off. */
export interface ListenerTimeouts {
  /** Milliseconds in which a head must arrive, and a whole request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Milliseconds in which nothing is read or written, also while a call waits for its response. */
  readonly silenceMs: number;
  /** Milliseconds between two checks. */
  readonly checkMs: number;
}

export const LISTENER_TIMEOUTS: ListenerTimeouts = {
  headersMs: 15_000,
  requestMs: 60_000,
  silenceMs: KEEP_ALIVE_MS,
  checkMs: 5000,
};

/** The HTTP server, configured to keep everything that senders send. */
export function createListener(
  mayUpgrade: (request: IncomingMessage) => boolean,
  { headersMs, requestMs, silenceMs, checkMs }: ListenerTimeouts,
): Server {
  const server = createServer({
    // Node counts the target, the names and the values, and rejects the exact number. `inspectHead` limits the header
    // lines, with their separators, because 60,000 short ones would be 240 KiB.
    maxHeaderSize: MAX_HEAD_BYTES + 1,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Java's client asks for `h2c` with every webhook. Without this, an 'upgrade' listener would consume it.
    shouldUpgradeCallback: mayUpgrade,
    // Node's own rejection has no body and accepts further requests; `createDispatch` rejects these instead.
    requireHostHeader: false,
  });
  // By default Node drops headers beyond 2,000 lines. Their bytes are limited above.
  server.maxHeadersCount = 0;
  // Cuts off a client that neither reads nor writes. Calls that wait answer it themselves (`closedSignal`).
  server.timeout = silenceMs;
  // A sender that closes its sending side (as `nc` does) still waits for the response.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    parsedConnection(socket)?.release();
    // The server no longer handles this socket's errors.
    socket.on('error', () => undefined);
    const refusal = rawRefusal({ code: 'METHOD_NOT_ALLOWED', allow: ['GET', 'POST'] }, false);
    socket.end(refusal, () => socket.destroySoon());
  });
  server.on('clientError', answerParseError);
  return server;
}

/** Passes requests on. Called once, before the server listens. */
export function serveRequests(server: Server, handle: RequestHandler, stopping: AbortSignal): void {
  /** Closes the connection after this response if the bytes after the request must not be read. */
  const guarded =
    (expectsContinue: boolean): RequestListener =>
    (request, response) => {
      const head = inspectHead(request);
      // Node's parser discards what follows an upgrade request, so the connection ends with the response.
      if (!server.listening || stopping.aborted || head.asksForUpgrade) response.shouldKeepAlive = false;
      parsedConnection(request.socket)?.begin(request, response, head);
      handle(request, response, head, expectsContinue);
    };
  server.on('request', guarded(false));
  server.on('checkContinue', guarded(true));
  // Other expectations are ignored, as RFC 9110 10.1.1 allows. Node would reject them without our headers.
  server.on('checkExpectation', guarded(false));
}

/** Calls `upgrade` for the requests that `mayUpgrade` of `createListener` accepts. */
export function handleUpgrades(
  server: Server,
  upgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => Promise<void>,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    parsedConnection(socket)?.release();
    // Without a listener, a connection error would end the process.
    socket.on('error', () => undefined);
    void upgrade(request, socket, head);
  });
}

/** Clients such as curl and Go's send the query as it was typed, and their users need to know why that fails. */
function parseSentence({ code }: NodeJS.ErrnoException): string | undefined {
  return code === 'HPE_INVALID_URL'
    ? 'The URL is not valid. Percent-encode every character that is not ASCII.'
    : undefined;
}

/** Responds to invalid HTTP and timeouts, and closes the connection. Earlier requests have already been answered. */
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
  // Its handler answers a complete request. What follows is not valid.
  if (response?.req.complete === true && !response.headersSent) return connection?.endWithResponse();
  if (response === undefined) {
    socket.end(rawRefusal({ code, sentence: parseSentence(error) }, false));
    linger(socket, () => socket.destroy());
  }
  // The body is broken, and the response was not started.
  else if (!response.headersSent) answerBroken(response, code);
  else if (response.writableEnded) socket.destroySoon();
  else response.end(() => socket.destroySoon());
  connection?.onCutOff?.();
}

/** The port that the server listens on; 0 before it listens. */
export function portOf(listener: Server): number {
  const address = listener.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The server's own origin, without a trailing slash. An IPv6 address is in brackets. */
export function originOf(host: string, listener: Server): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${portOf(listener)}`;
}

/** Facts of a head that are needed before its body is read. */
export interface HeadFacts {
  /**
   * Why the request is rejected although Node's parser accepts it. `BAD_REQUEST`: two parsers could read it differently.
   * It has not exactly one Host (RFC 9112 3.2), a transfer coding on HTTP/1.0 (6.1), or another version than 1.0 and 1.1.
   */
  readonly refusal: 'BAD_REQUEST' | 'HEADERS_TOO_LARGE' | undefined;
  /** Declared length of the body in bytes, or -1. */
  readonly declaredLength: number;
  readonly hasTransferEncoding: boolean;
  readonly hasUpgrade: boolean;
  /** Has both headers of an upgrade (RFC 9110 7.8). */
  readonly asksForUpgrade: boolean;
  readonly preflight: Preflight | undefined;
}

/** One pass over the flat list is cheaper than `request.headers`. Compares the length of names first. */
export function inspectHead({ method, httpVersion, rawHeaders }: IncomingMessage): HeadFacts {
  const asked: Preflight = { method: '', headers: '', isPrivateNetwork: false };
  let bytes = 0;
  let hosts = 0;
  let declaredLength = -1;
  let connection = '';
  let hasOrigin = false;
  let hasUpgrade = false;
  let hasTransferEncoding = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    bytes += name.length + (rawHeaders[at + 1] ?? '').length + HEADER_SEPARATOR_BYTES;
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') hosts += 1;
        break;
      case 6:
        if (name.toLowerCase() === 'origin') hasOrigin = true;
        break;
      case 7:
        if (name.toLowerCase() === 'upgrade') hasUpgrade = true;
        break;
      case 10:
        if (name.toLowerCase() === 'connection') connection += `,${rawHeaders[at + 1]}`;
        break;
      case 14:
        if (name.toLowerCase() === 'content-length') declaredLength = Number(rawHeaders[at + 1]);
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') hasTransferEncoding = true;
        break;
      case 29:
        if (name.toLowerCase() === 'access-control-request-method') asked.method = rawHeaders[at + 1] ?? '';
        break;
      case 30:
        if (name.toLowerCase() === 'access-control-request-headers') asked.headers = rawHeaders[at + 1] ?? '';
        break;
      case 38:
        if (name.toLowerCase() === 'access-control-request-private-network') asked.isPrivateNetwork = true;
    }
  }
  const asksForUpgrade = hasUpgrade && /,\s*upgrade\s*(,|$)/i.test(connection);
  const preflight = method === 'OPTIONS' && hasOrigin && asked.method !== '' ? asked : undefined;
  const isAmbiguous = hosts > 1 || (httpVersion === '1.1' ? hosts === 0 : httpVersion !== '1.0' || hasTransferEncoding);
  const refusal = isAmbiguous ? 'BAD_REQUEST' : bytes > MAX_HEADER_BYTES ? 'HEADERS_TOO_LARGE' : undefined;
  return { refusal, declaredLength, hasTransferEncoding, hasUpgrade, asksForUpgrade, preflight };
}

/** Handles a request. `expectsContinue`: the sender waits for `100 Continue` before its body. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  head: HeadFacts,
  expectsContinue: boolean,
) => void;

export interface DispatchTargets {
  /** True for a request target that `capture` handles. */
  readonly isCapture: (target: string) => boolean;
  readonly capture: RequestHandler;
  readonly everythingElse: RequestListener;
}

/** Passes captures on immediately. Other requests start in turns of the event loop. */
export function createDispatch(
  { isCapture, capture, everythingElse }: DispatchTargets,
  turns: LoopTurns,
): RequestHandler {
  return (request, response, head, expectsContinue) => {
    if (head.refusal !== undefined) return answerRefused(response, { code: head.refusal, close: true });
    if (isCapture(request.url ?? '')) return capture(request, response, head, expectsContinue);
    if (expectsContinue) response.writeContinue();
    turns.run(turnOwner(request.socket), () => {
      // The client may have left.
      if (!request.socket.destroyed) everythingElse(request, response);
    });
  };
}
