import { MAX_REPLAY_RESPONSE_BYTES, replayHeaderLines, sendAndRead } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { ProblemError } from '../../http/problem.ts';
import { LoopTurns } from '../../http/loop-turns.ts';
import { ReplayFailure, failureOf } from './replay-failure.ts';
import { resolveTarget, parseTarget, isAllowed } from './target.ts';
import type { Lookup, Target } from './target.ts';
import { errorMonitor } from 'node:events';
import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { request as openRequest } from 'node:http';

/** A replay that is ready to be sent. */
export interface OutboundRequest {
  /** Responses to one user share a turn, and lookups for one user are limited. */
  readonly userId: number;
  readonly method: string;
  /** Already validated by `targetUrlSchema`. */
  readonly url: string;
  readonly headers: RawHeaders;
  readonly body: Uint8Array;
  /** The user agent if the headers have none. */
  readonly userAgent: string;
  /** Whether this machine and private networks are allowed (`ALLOW_PRIVATE_TARGETS`). */
  readonly allowPrivate: boolean;
  /** Time limit for the whole exchange: connecting, sending and receiving. */
  readonly maxMs: number;
  /** Maximum bytes of the response's body that are returned; by default MAX_REPLAY_RESPONSE_BYTES. */
  readonly keptBytes?: number | undefined;
}

/** The target's response. */
export interface OutboundResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
  /** True when the body is incomplete: over the limit, too slow, or aborted. */
  readonly isCut: boolean;
  readonly durationMs: number;
}

/** Sends a replay to its target and returns the response. `signal` aborts when no client waits any more. */
export type SendRequest = (request: OutboundRequest, signal: AbortSignal) => Promise<OutboundResponse>;

/**
 * Sends a replay: resolves and checks its target, then connects only to the checked addresses. @throws ProblemError
 * TARGET_NOT_ALLOWED, or REPLAY_FAILED with the reason
 */
export async function sendRequest(
  request: OutboundRequest,
  signal: AbortSignal,
  lookUp: Lookup,
): Promise<OutboundResponse> {
  const { userId, allowPrivate, maxMs } = request;
  const began = performance.now();
  const target = parseTarget(request.url);
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(tooSlow(maxMs)), maxMs).unref();
  const { authority, path } = target;
  try {
    const addresses = await resolveTarget(target, { allowPrivate, lookUp, userId });
    const eitherSignal = AbortSignal.any([signal, tooLong.signal]);
    const socket = openConnection(target, addresses, allowPrivate);
    const incoming = await sendOverSocket(socket, { ...request, authority, path }, eitherSignal);
    return { ...incoming, durationMs: performance.now() - began };
  } catch (error) {
    if (signal.aborted) throw new ReplayFailure(CANCELED);
    throw error instanceof ProblemError ? error : failureOf(error);
  } finally {
    clearTimeout(timer);
  }
}

const CANCELED = 'The replay was canceled before the destination answered.';

function tooSlow(maxMs: number): ReplayFailure {
  return new ReplayFailure(`The destination did not answer within ${Math.round(maxMs / 1000)} seconds.`);
}

/**
 * Connects to one of the checked addresses only: no second lookup and no proxy of the environment. TLS is verified
 * against the URL's host. If the socket ends up elsewhere, it is destroyed before any byte is written, including TLS's
 * own.
 */
function openConnection(target: Target, addresses: readonly string[], allowPrivate: boolean): Socket {
  const options: TcpNetConnectOpts = {
    host: target.host,
    port: target.port,
    lookup: onlyThese(addresses),
    autoSelectFamily: true,
    noDelay: true,
  };
  const plain = connect(options);
  plain.once('connect', () => {
    const { remoteAddress } = plain;
    if (remoteAddress === undefined || !isAllowed(remoteAddress, allowPrivate))
      plain.destroy(new ProblemError('TARGET_NOT_ALLOWED'));
  });
  return target.isSecure ? secured(plain, target) : plain;
}

function secured(plain: Socket, { host }: Target): Socket {
  // A TLS server name must be a name (RFC 6066 3); an address is verified as an address.
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  // NODE_TLS_REJECT_UNAUTHORIZED=0, which an operator may set for their own services, does not apply to users' targets.
  const secure = connectTls({ socket: plain, host, servername, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] });
  // Report the underlying failure.
  plain.once('error', (error) => secure.destroy(error));
  secure.once('close', () => plain.destroy());
  return secure;
}

function onlyThese(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, done) => {
    if (options.all === true) done(null, found);
    else done(null, found[0]?.address ?? '', found[0]?.family ?? 0);
  };
}

/** Maximum bytes of a response's head. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Maximum number of a response's headers, because in memory each takes many times the bytes of a short line. */
const MAX_HEADERS = 4000;
const TOO_MANY_HEADERS = 'The destination answered with more than 4,000 headers.';

/**
 * Sends a request over a connection and reads the response, both exactly as on the wire: no redirects, no decoding, no
 * merged headers. When `signal` aborts, returns what has arrived; before the head it rejects. @throws errors of the
 * connection, TLS or the parser, or the signal's reason
 */
async function sendOverSocket(
  socket: Socket,
  outgoing: OutboundRequest & Pick<Target, 'authority' | 'path'>,
  signal: AbortSignal,
): Promise<Omit<OutboundResponse, 'durationMs'>> {
  const request = openRequest({
    method: outgoing.method,
    path: outgoing.path,
    // Node sends a flat list of names and values unchanged.
    headers: replayHeaderLines({ ...outgoing, bodyBytes: outgoing.body.length }).flat(),
    setHost: false,
    maxHeaderSize: MAX_HEAD_BYTES,
    createConnection: () => socket,
  });
  // Node drops the header lines beyond this number.
  request.maxHeadersCount = MAX_HEADERS + 1;
  request.once('socket', () => parseInTurns(socket, String(outgoing.userId)));
  const { keptBytes = MAX_REPLAY_RESPONSE_BYTES } = outgoing;
  const limits = { signal, keptBytes, maxBytes: MAX_REPLAY_RESPONSE_BYTES };
  const { beginning, isLonger, isCut, ...head } = await sendAndRead(request, outgoing.body, limits);
  if (head.headers.length > MAX_HEADERS) throw new ReplayFailure(TOO_MANY_HEADERS);
  return { ...head, body: Buffer.from(beginning.buffer, 0, beginning.length), isCut: isCut || isLonger };
}

/** Bytes that are parsed at once. In chunks of one byte, they take about a millisecond. */
const SLICE_BYTES = 2048;
/** Milliseconds of parsing before others take turns. Most responses are parsed in one turn. */
const MAX_PARSE_MS = 0.5;

const turns = new LoopTurns();

/**
 * Makes the parser of a connection take turns with others. By default Node reads and parses up to 2 MiB of one socket
 * before the next one, and in chunks of one byte this takes half a second. Call it after the parser listens to the
 * socket. All connections of one `owner` share its turns.
 */
function parseInTurns(socket: Socket, owner: string): void {
  const listeners = socket.listeners('data');
  const parse = (bytes: Buffer): void => {
    // Node removes its parser after an upgrade and after an invalid response.
    if (!Reflect.get(socket, 'parser')) return;
    for (const listener of listeners) Reflect.apply(listener, socket, [bytes]);
  };
  let waits = false;
  let hasTurn = false;
  const holdBack = (rest: Buffer): void => {
    socket.pause();
    socket.unshift(rest);
    if (waits) return;
    waits = true;
    turns.run(owner, () => {
      waits = false;
      hasTurn = true;
      socket.resume();
    });
  };
  const read = (bytes: Buffer): void => {
    if (!hasTurn) return holdBack(bytes);
    hasTurn = false;
    const began = performance.now();
    let rest = bytes;
    while (rest.length > 0 && !socket.destroyed && performance.now() - began < MAX_PARSE_MS) {
      parse(rest.subarray(0, SLICE_BYTES));
      rest = rest.subarray(SLICE_BYTES);
    }
    if (rest.length > 0 && !socket.destroyed) holdBack(rest);
  };
  socket.removeAllListeners('data').on('data', read);
  // What arrived before the connection broke still counts.
  socket.once(errorMonitor, () => {
    for (let rest = socket.read(); rest instanceof Buffer; rest = socket.read()) parse(rest);
  });
}
