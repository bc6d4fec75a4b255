import { PROBLEMS } from '@creel/contract';
import type { ProblemCode } from '@creel/contract';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SignedIn } from '../accounts/sessions.ts';
import type { EndpointRecord } from '../storage/store.ts';

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
export async function checkUpgrade(request: IncomingMessage, checks: UpgradeChecks): Promise<{ signedIn: SignedIn; endpoint: EndpointRecord } | ProblemCode> {
  if (checks.isFromElsewhere(request)) return 'CROSS_ORIGIN';
  const signedIn = await checks.signedIn(request);
  if (signedIn === undefined) return 'NOT_SIGNED_IN';
  const uid = new URLSearchParams(request.url?.split('?', 2)[1] ?? '').get('endpoint') ?? '';
  const endpoint = await checks.findEndpoint(uid);
  return endpoint?.userId === signedIn.user.id ? { signedIn, endpoint } : 'ENDPOINT_NOT_FOUND';
}

/** Refuses an upgrade as HTTP, and closes. */
export function refuseUpgrade(socket: Duplex, code: ProblemCode): void {
  const { status, sentence } = PROBLEMS[code];
  const body = JSON.stringify({ error: sentence, message: sentence, code });
  const head = [`HTTP/1.1 ${status} ${code}`, 'content-type: application/json; charset=utf-8', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
