import { ApiError } from '@creel/contract';
import { signal } from '../ui/state.ts';

/**
 * `unreachable` after a call without a response. `unavailable` after a call that the server, or a proxy in front of it,
 * can't answer now. Both until a call is answered.
 */
export type ServerState = 'up' | 'unreachable' | 'unavailable';

export const serverState = signal<ServerState>('up');

/** The longest wait that a server or a proxy can ask for. The outage may end earlier. */
const MAX_WAIT_MS = 60_000;

let waitUntil = 0;

/** Milliseconds for which the server has asked to wait. */
export const msToWait = (): number => Math.max(0, waitUntil - Date.now());

/** Notes an outage, and how long the server asks to wait, if this error is one. */
export function noteOutage(error: unknown): void {
  if (!(error instanceof ApiError) || !isOutage(error)) return;
  waitUntil = Date.now() + Math.min((error.retryAfter ?? 0) * 1000, MAX_WAIT_MS);
  serverState.set('unavailable');
}

/** True for the statuses of an outage or a rate limit. The server sends 429 and 503, and a proxy any of them. */
export const isOutageStatus = (status: number): boolean =>
  status === 429 || status === 502 || status === 503 || status === 504;

/** True if a call failed because of an outage or a rate limit. A 502 or 504 with a code is about another server. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError) || !isOutageStatus(error.status)) return false;
  return error.status === 429 || error.status === 503 || error.code === undefined;
}
