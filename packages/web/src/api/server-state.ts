import { ApiError } from '@creel/contract';
import { signal } from '../ui/state.ts';

/**
 * `unreachable` after a call without a response. `unavailable` after a call that the server, or a proxy in front of it,
 * can't answer now. Both until a call is answered.
 */
export type ServerState = 'up' | 'unreachable' | 'unavailable';

export const serverState = signal<ServerState>('up');

/** True for the statuses of an outage or a rate limit. The server sends 429 and 503, and a proxy any of them. */
export const isOutageStatus = (status: number): boolean =>
  status === 429 || status === 502 || status === 503 || status === 504;

/** True if a call failed because of an outage or a rate limit. A 502 or 504 with a code is about another server. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError) || !isOutageStatus(error.status)) return false;
  return error.status === 429 || error.status === 503 || error.code === undefined;
}
