import {
  MAX_DELIVERY_RESPONSE_BYTES,
  replayHeaderLines,
  sendAndRead,
  targetOf,
  targetUrlSchema,
  withCapturedTarget,
} from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { UsageError } from './cli-error.ts';
import { VERSION } from './connection.ts';

type TargetResponse = Omit<Awaited<ReturnType<typeof sendAndRead>>, 'isLonger'>;

/** Result of sending a capture. `unreached`: no byte of it was sent, so a retry can't deliver it twice. */
export type SendResult =
  | (TargetResponse & { readonly kind: 'answered'; readonly durationMs: number })
  | { readonly kind: 'unreached' | 'unanswered'; readonly reason: string; readonly durationMs: number };

/** A few more than the server keeps, so that it knows whether there were more. */
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

/** Where and how a capture is sent. */
export interface SendOptions {
  readonly destination: URL;
  /** The whole body of the capture. */
  readonly body: Uint8Array;
  /** An abort ends the attempt. */
  readonly signal: AbortSignal;
  readonly maxResponseMs?: number;
}

/** Sends a capture with its method, target, headers (case, order and repeats) and exact body. Follows no redirect. Never rejects. */
export async function sendCapture(
  capture: CapturedRequest,
  { destination, body, signal, maxResponseMs = MAX_RESPONSE_MS }: SendOptions,
): Promise<SendResult> {
  const startedAt = performance.now();
  const { method, rawHeaders } = capture;
  const head = { method, authority: destination.host, headers: rawHeaders, userAgent: `creel/${VERSION}` };
  const isSecure = destination.protocol === 'https:';
  const request = (isSecure ? requestHttps : requestHttp)(destination, {
    method,
    path: destinationPath(destination, targetOf(capture)),
    headers: replayHeaderLines({ ...head, bodyBytes: body.length }).flat(),
    setHost: false,
    agent: false,
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
  });
  let isConnected = false;
  // With TLS, nothing of the message is sent before the handshake is complete.
  request.on('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true)));
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(new Error(`no answer within ${maxResponseMs / 1000} s`)), maxResponseMs);
  try {
    const response = await sendAndRead(request, body, {
      signal: AbortSignal.any([signal, tooLong.signal]),
      keptBytes: MAX_BEGINNING_BYTES,
      maxBytes: Infinity,
    });
    const durationMs = performance.now() - startedAt;
    return { kind: 'answered', ...response, durationMs };
  } catch (error) {
    const durationMs = performance.now() - startedAt;
    return { kind: isConnected ? 'unanswered' : 'unreached', reason: failureReason(error), durationMs };
  } finally {
    clearTimeout(timer);
  }
}

/** Reasons by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed without an answer',
  EPIPE: 'the connection was closed without an answer',
  ENOTFOUND: 'its name has no address',
  HPE_HEADER_OVERFLOW: 'it answered with more than 64 KiB of headers',
  SWITCHED_PROTOCOL: 'it switched to another protocol',
  TOO_MANY_INTERIM: 'it sent too many interim responses',
};

/** OpenSSL's message about an alert, of which the code may say only EPROTO. */
const TLS_ALERT = /([^:]+):[^:]*:\d*:SSL alert number/;

function failureReason(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  if (!(first instanceof Error)) return 'it could not be reached';
  const code = 'code' in first ? String(first.code) : '';
  const known = REASONS[code];
  if (known !== undefined) return known;
  const alert = TLS_ALERT.exec(first.message)?.[1];
  if (alert !== undefined) return `it rejected the TLS connection: ${alert}`;
  if (/CERT|SIGNATURE|ISSUER|ALTNAME/.test(code)) return `its certificate is not trusted here: ${code}`;
  if (/^ERR_(?:SSL|TLS)_|^EPROTO$/.test(code)) return 'its port does not speak https';
  if (code.startsWith('HPE_')) return 'it answered with something that is not HTTP';
  return code === '' ? first.message : code;
}
