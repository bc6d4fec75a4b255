import { PROBLEMS } from '@creel/contract';
import type { ProblemCode } from '@creel/contract';
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SignedIn } from '../../http/call.ts';
import type { EndpointRecord } from '../../database/store.ts';

/** True for the one address that upgrades; everything else that asks for an upgrade is an ordinary request (contract 3). */
export function isLiveUpgrade(request: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return livePath(request.url) && /(^|,)\s*websocket\s*(,|$)/i.test(request.headers.upgrade ?? '');
}

function livePath(url: string | undefined): boolean {
  return url === '/ws' || (url?.startsWith('/ws?') ?? false);
}

export interface UpgradeChecks {
  readonly isFromElsewhere: (request: IncomingMessage) => boolean;
  readonly signedIn: (request: IncomingMessage) => Promise<SignedIn | undefined>;
  readonly findEndpoint: (uid: string) => Promise<EndpointRecord | undefined>;
}

/** Who may listen: the owner, signed in, from our own origin (contract 1 and 5). A code of the closed list when not. */
export async function checkUpgrade(
  request: IncomingMessage,
  checks: UpgradeChecks,
): Promise<{ signedIn: SignedIn; endpoint: EndpointRecord } | ProblemCode> {
  if (checks.isFromElsewhere(request)) return 'CROSS_ORIGIN';
  const signedIn = await checks.signedIn(request);
  if (signedIn === undefined) return 'NOT_SIGNED_IN';
  const endpoint = await checks.findEndpoint(uidOf(request.url ?? ''));
  return endpoint?.userId === signedIn.user.id ? { signedIn, endpoint } : 'ENDPOINT_NOT_FOUND';
}

function uidOf(url: string): string {
  const queryAt = url.indexOf('?');
  return new URLSearchParams(queryAt < 0 ? '' : url.slice(queryAt + 1)).get('endpoint') ?? '';
}

/** How long a refused client may take to read its answer and hang up: the HTTP server's own time-outs don't hold for an upgrade. */
const REFUSED_MS = 1000;

/** Refuses an upgrade as HTTP, and closes. What the client sent behind its request is read, so that it does not cost it the answer. */
export function refuseUpgrade(socket: Duplex, code: ProblemCode): void {
  const { status, sentence } = PROBLEMS[code];
  const body = JSON.stringify({ error: sentence, message: sentence, code });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    "content-security-policy: default-src 'none'; frame-ancestors 'none'",
    'referrer-policy: no-referrer',
    'cross-origin-opener-policy: same-origin-allow-popups',
    'cross-origin-resource-policy: same-origin',
    'connection: close',
  ];
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
