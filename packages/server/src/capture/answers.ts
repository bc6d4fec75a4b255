import { PROBLEMS } from '@creel/contract';
import type { ProblemCode } from '@creel/contract';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** On every answer under `/h/`: nothing there may ever run in the dashboard's origin (contract 3). */
const FENCE = [
  'access-control-allow-origin',
  '*',
  'content-security-policy',
  "sandbox; default-src 'none'",
  'x-content-type-options',
  'nosniff',
  'cross-origin-resource-policy',
  'cross-origin',
] as const;

const CAPTURED_BODY = '{"ok":true}';
const CAPTURED_HEADERS = [
  'x-creel-request',
  '',
  'content-type',
  'application/json',
  'content-length',
  String(CAPTURED_BODY.length),
  ...FENCE,
];

/** How long, and how much, a refused sender is listened to before its connection is closed. */
const LINGER_MS = 2000;
const LINGER_BYTES = 64 * 1024 * 1024;

/** Connections whose last answer was given. */
const closing = new WeakSet<Socket>();

/**
 * True once a refusal that ends the connection was answered: what stands behind a request that two readers could understand
 * differently is not a request (RFC 9112 9.6 and 11.2), although the parser, which is ahead of the answer, still calls it one.
 */
export function isClosing(socket: Socket): boolean {
  return closing.has(socket);
}

/** The one list of headers is written out before `writeHead` returns, so that every answer can use it. Latin-1 joins head and body. */
export function answerCaptured(response: ServerResponse, index: number): void {
  CAPTURED_HEADERS[1] = String(index);
  response.writeHead(200, CAPTURED_HEADERS);
  response.end(CAPTURED_BODY, 'latin1');
}

function problemJson(code: ProblemCode): string {
  const { sentence } = PROBLEMS[code];
  return JSON.stringify({ error: sentence, message: sentence, code });
}

export interface RefusalOptions {
  /** Seconds for `Retry-After`. */
  readonly retryAfter?: number;
  /** Closes the connection after the answer. */
  readonly close?: boolean;
}

/** Answers that the request was not captured, and why. */
export function answerRefused(
  request: IncomingMessage,
  response: ServerResponse,
  code: ProblemCode,
  options: RefusalOptions = {},
): void {
  const body = problemJson(code);
  const headers = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)), ...FENCE];
  if (options.retryAfter !== undefined) headers.push('retry-after', String(options.retryAfter));
  if (options.close) {
    headers.push('connection', 'close');
    closing.add(request.socket);
  }
  response.writeHead(PROBLEMS[code].status, headers);
  if (!options.close || request.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  linger(request, () => response.end());
}

/**
 * A connection that is closed while the sender still sends is reset, and the sender may never see the answer. So the rest is read and
 * thrown away for a moment (as nginx's `lingering_close` does), then the connection ends.
 */
function linger(request: IncomingMessage, done: () => void): void {
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    request.removeAllListeners('data').resume();
    done();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.once('end', finish).once('close', finish);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) finish();
  });
}

/** A true CORS preflight gets what it asked for and is not captured (contract 3). */
export function answerPreflight(response: ServerResponse, requestedMethod: string, requestedHeaders: string): void {
  const headers = ['access-control-allow-methods', requestedMethod, 'access-control-max-age', '600', ...FENCE];
  if (requestedHeaders !== '') headers.push('access-control-allow-headers', requestedHeaders);
  response.writeHead(204, headers);
  response.end();
}

/** What the HTTP parser refused, as bytes: there is no response object for a request that never was one. */
export function rawRefusal(code: ProblemCode): string {
  const body = problemJson(code);
  const { status } = PROBLEMS[code];
  const lines = [
    `HTTP/1.1 ${status} ${code}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  for (let at = 0; at < FENCE.length; at += 2) lines.push(`${FENCE[at]}: ${FENCE[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
