import { PROBLEMS } from '@creel/contract';
import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import { problemJson, refusalOf } from './problem.ts';
import type { Refusal } from './problem.ts';
import { linger } from './read-body.ts';
import { SANDBOX_POLICY } from './security-headers.ts';
import type { Duplex } from 'node:stream';

/** Headers of every response under `/h/`: no content there may ever run in the dashboard's origin. */
const SANDBOX_HEADERS = [
  'access-control-allow-origin',
  '*',
  'content-security-policy',
  SANDBOX_POLICY,
  'x-content-type-options',
  'nosniff',
  'cross-origin-resource-policy',
  'cross-origin',
] as const;

function jsonHeaders(bytes: number): string[] {
  return ['content-type', 'application/json', 'content-length', String(bytes), ...SANDBOX_HEADERS];
}

const CAPTURED_BODY = '{"ok":true}';
/** The headers of a capture without an index. */
const LOGGED_HEADERS: readonly string[] = jsonHeaders(CAPTURED_BODY.length);

/** Responds that the request was captured. Latin-1 joins head and body into one write. */
export function answerCaptured(response: ServerResponse, index?: number, challenge?: string): void {
  const body = capturedBody(challenge);
  response.writeHead(200, capturedHeaders(index, body));
  response.end(body, 'latin1');
}

/** `challenge`: what the sender expects in the response, in ASCII. */
function capturedBody(challenge: string | undefined): string {
  return challenge === undefined ? CAPTURED_BODY : JSON.stringify({ ok: true, challenge });
}

function capturedHeaders(index: number | undefined, body: string): string[] {
  const headers = body === CAPTURED_BODY ? LOGGED_HEADERS : jsonHeaders(body.length);
  return index === undefined ? [...headers] : ['x-creel-request', String(index), ...headers];
}

function refusalHeaders({ retryAfter, allow }: Refusal, body: string): string[] {
  const headers = jsonHeaders(Buffer.byteLength(body));
  if (retryAfter !== undefined) headers.push('retry-after', String(retryAfter));
  if (allow !== undefined) headers.push('allow', allow.join(', '));
  return headers;
}

/** Writes the head of a refusal. Returns its body. */
function beginRefusal(response: ServerResponse, refusal: Refusal): string {
  const body = problemJson(refusal);
  const headers = refusalHeaders(refusal, body);
  if (refusal.close) {
    headers.push('connection', 'close');
    response.shouldKeepAlive = false;
  }
  response.writeHead(PROBLEMS[refusal.code].status, headers);
  return body;
}

/** Responds that the request was not captured, and why. */
export function answerRefused(response: ServerResponse, refusal: Refusal): void {
  const body = beginRefusal(response, refusal);
  // A client that asks to close may still send its body, too.
  if (response.shouldKeepAlive || response.req.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  linger(response.req, () => response.end(), response.req.socket);
}

/** Responds to a request whose body the parser could not complete, and ends the connection. */
export function answerBroken(response: ServerResponse, code: Refusal['code']): void {
  response.end(beginRefusal(response, { code, close: true }));
}

/** What a CORS preflight asks for. */
export interface Preflight {
  method: string;
  headers: string;
  /** https://wicg.github.io/private-network-access */
  isPrivateNetwork: boolean;
}

/** A true CORS preflight is allowed and is not captured. */
export function answerPreflight(response: ServerResponse, asked: Preflight): void {
  const headers = ['access-control-allow-methods', asked.method, 'access-control-max-age', '600', ...SANDBOX_HEADERS];
  if (asked.headers !== '') headers.push('access-control-allow-headers', asked.headers);
  // A page on the internet sends to a Creel on its user's own machine.
  if (asked.isPrivateNetwork) headers.push('access-control-allow-private-network', 'true');
  response.writeHead(204, headers);
  response.end();
}

/** Milliseconds that a connection may be idle between two requests, as announced in every response. */
export const KEEP_ALIVE_MS = 65_000;

const CLOSE = 'Connection: close';
const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}`;

/** A rejection as bytes, for requests without a response object: parse errors and requests of the plain reader. */
export function rawRefusal(refusal: Refusal, keepsAlive: boolean): string {
  const body = problemJson(refusal);
  return rawHead(PROBLEMS[refusal.code].status, refusalHeaders(refusal, body), keepsAlive) + body;
}

/** The response to a capture as bytes, identical to what Node writes for `answerCaptured`. */
export function rawCaptured(index: number | undefined, keepsAlive: boolean, challenge?: string): string {
  if (index === undefined || challenge !== undefined || !keepsAlive) {
    const body = capturedBody(challenge);
    return rawHead(200, capturedHeaders(index, body), keepsAlive) + body;
  }
  const second = Math.floor(Date.now() / 1000);
  if (second !== usual.second) usual = usualCaptured(second);
  return usual.beforeIndex + index + usual.afterIndex;
}

/** Not in any header. */
const INDEX_PLACE = '\0';
/** The usual response to a capture changes once a second, and composing it takes about as long as reading a request. */
let usual = { second: 0, beforeIndex: '', afterIndex: '' };

function usualCaptured(second: number): typeof usual {
  const text = rawHead(200, ['x-creel-request', INDEX_PLACE, ...LOGGED_HEADERS], true) + CAPTURED_BODY;
  const [beforeIndex = '', afterIndex = ''] = text.split(INDEX_PLACE);
  return { second, beforeIndex, afterIndex };
}

/** The head of a response as bytes. `headers`: names and values in turn. */
function rawHead(status: number, headers: readonly string[], keepsAlive: boolean): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push(`Date: ${new Date().toUTCString()}`, keepsAlive ? KEEP_ALIVE : CLOSE);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Milliseconds for a rejected client to read the response. The HTTP server's timeouts don't apply to upgrades. */
const REFUSED_MS = 1000;

/**
 * Rejects an upgrade over HTTP, with the security headers. Discards what the client sent after it, so that no reset
 * discards the response.
 */
export function refuseUpgrade(socket: Duplex, error: unknown, security: ReadonlyMap<string, string>): void {
  const refusal = refusalOf(error) ?? { code: 'INTERNAL' };
  const body = problemJson(refusal);
  const headers = [...security].flat();
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(body)));
  headers.push('cache-control', 'no-store');
  if (refusal.retryAfter !== undefined) headers.push('retry-after', String(refusal.retryAfter));
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(rawHead(PROBLEMS[refusal.code].status, headers, false) + body);
}
