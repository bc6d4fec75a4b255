import {
  MAX_DELIVERY_RESPONSE_BYTES,
  isClosedConnection,
  rawHeadersOf,
  readBeforeFailing,
  replayHeaderLines,
  sendBody,
  targetOf,
  targetUrlSchema,
  withCapturedTarget,
} from '@creel/contract';
import type { CapturedRequest, RawHeaders } from '@creel/contract';
import { request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { UsageError } from './cli-error.ts';
import { VERSION } from './connection.ts';

/** Result of sending a capture. `unreached`: no byte of it was sent, so a retry can't deliver it twice. */
export type SendResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly statusText: string;
      readonly headers: RawHeaders;
      /** The first bytes, a few more than the server keeps, so that it knows whether there were more. */
      readonly beginning: Uint8Array;
      /** True when the body is incomplete: too slow, or the connection broke. */
      readonly isCut: boolean;
      readonly durationMs: number;
    }
  | { readonly kind: 'unreached' | 'unanswered'; readonly reason: string; readonly durationMs: number };

const MAX_BEGINNING_BYTES = MAX_DELIVERY_RESPONSE_BYTES + 8;

/** Limit for a complete response. Later captures wait for it. */
const MAX_RESPONSE_MS = 60_000;

/** Maximum bytes of a response's head, as for the server's own deliveries. */
const MAX_RESPONSE_HEAD_BYTES = 64 * 1024;

/** Reads any http or https URL. `verb` is what the command does with it. @throws UsageError */
export function parseDestination(text: string, verb: 'forward' | 'send' = 'forward'): URL {
  const parsed = targetUrlSchema.safeParse(text);
  if (parsed.success) return new URL(parsed.data);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text is not repeated, because terminals and logs keep what is printed.
  if (url !== undefined && url.username + url.password !== '')
    throw new UsageError('The URL has a name or a password. Leave them out: only the headers of a capture are sent.');
  throw new UsageError(`“${text}” is not a URL to ${verb} to. Use one such as http://localhost:4000/webhooks`);
}

/** Path and query at the destination: its own, followed by what followed the capture URL, exactly as sent. */
export function destinationPath({ pathname, search }: URL, rawTarget: string): string {
  return withCapturedTarget(pathname + search, rawTarget);
}

export interface SendOptions {
  readonly destination: URL;
  /** The whole body of the capture. */
  readonly body: Uint8Array;
  /** An abort ends the attempt. */
  readonly signal: AbortSignal;
  readonly maxResponseMs?: number;
}

/** Sends a capture with its method, target, headers (case, order and repeats) and exact body. Follows no redirect. Never rejects. */
export function sendCapture(
  capture: CapturedRequest,
  { destination, body, signal, maxResponseMs = MAX_RESPONSE_MS }: SendOptions,
): Promise<SendResult> {
  const startedAt = performance.now();
  const { method, rawHeaders } = capture;
  const head = { method, authority: destination.host, headers: rawHeaders, userAgent: `creel/${VERSION}` };
  const open = destination.protocol === 'https:' ? requestHttps : requestHttp;
  const request = open(destination, {
    method,
    path: destinationPath(destination, targetOf(capture)),
    headers: replayHeaderLines({ ...head, bodyBytes: body.length }).flat(),
    setHost: false,
    agent: false,
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
  });
  let isGivenUp = false;
  const giveUp = (reason: string): void => {
    isGivenUp = true;
    request.destroy(new Error(reason));
  };
  const abort = (): void => giveUp('it was given up');
  const timer = setTimeout(() => giveUp(`no answer within ${maxResponseMs / 1000} s`), maxResponseMs);
  signal.addEventListener('abort', abort, { once: true });
  const result = resultOf(request, startedAt, () => isGivenUp).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    request.destroy();
  });
  request.on('socket', (socket) => void readBeforeFailing(socket));
  void sendBody(request, body);
  return result;
}

function resultOf(request: ClientRequest, startedAt: number, isGivenUp: () => boolean): Promise<SendResult> {
  return new Promise((resolve) => {
    let isConnected = false;
    let hasResponse = false;
    // With TLS, nothing of the message is sent before the handshake is complete.
    const connected = request.protocol === 'https:' ? 'secureConnect' : 'connect';
    request.on('socket', (socket) => socket.once(connected, () => (isConnected = true)));
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      // Node's parser also accepts 000 to 099, which are no status codes (RFC 9110, section 15).
      if (status < 100) return void request.destroy(new Error(NOT_HTTP));
      hasResponse = true;
      // If only the connection's end marks the body's end, Node also takes a reset and our own abort for it.
      let isReset = false;
      response.socket.prependOnceListener('error', () => (isReset = !response.complete));
      readBeginning(response, (beginning) =>
        resolve({
          isCut: !response.complete || isReset || isGivenUp(),
          kind: 'answered',
          status,
          statusText: response.statusMessage ?? '',
          headers: rawHeadersOf(response.rawHeaders),
          beginning,
          durationMs: performance.now() - startedAt,
        }),
      );
    });
    const fail = (error?: Error): void => {
      const durationMs = performance.now() - startedAt;
      const kind = isConnected ? 'unanswered' : 'unreached';
      if (!hasResponse) resolve({ kind, reason: failureReason(error), durationMs });
    };
    request.on('error', fail);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      fail(new Error('it switched to another protocol'));
    });
    request.on('close', () => fail());
  });
}

/** Keeps the first bytes. The rest is read and discarded, so that the program at the destination can finish writing. */
function readBeginning(response: IncomingMessage, done: (beginning: Uint8Array) => void): void {
  const pieces: Buffer[] = [];
  let missing = MAX_BEGINNING_BYTES;
  response.on('data', (piece: Buffer) => {
    if (missing > 0) pieces.push(piece.subarray(0, missing));
    missing -= piece.length;
  });
  response.on('error', () => undefined);
  response.once('close', () => done(Buffer.concat(pieces)));
}

/** Reason for a response that can't be read. */
const NOT_HTTP = 'it answered with something that is not HTTP';

/** OpenSSL's message about an alert, of which the code may say only EPROTO. */
const TLS_ALERT = /([^:]+):[^:]*:\d*:SSL alert number/;

function failureReason(error: Error | undefined): string {
  if (error === undefined) return 'the connection was closed without an answer';
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  if (!(first instanceof Error)) return 'it could not be reached';
  const code = 'code' in first ? String(first.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'its name has no address';
  if (isClosedConnection(first)) return 'the connection was closed without an answer';
  const alert = TLS_ALERT.exec(first.message)?.[1];
  if (alert !== undefined) return `it rejected the TLS connection: ${alert}`;
  if (/CERT|SIGNATURE|ISSUER|ALTNAME/.test(code)) return `its certificate is not trusted here: ${code}`;
  if (/^ERR_(?:SSL|TLS)_|^EPROTO$/.test(code)) return 'its port does not speak https';
  if (code === 'HPE_HEADER_OVERFLOW') return 'it answered with more than 64 KiB of headers';
  if (code.startsWith('HPE_')) return NOT_HTTP;
  return code === '' ? first.message : code;
}
