import type { LiveStatus } from '../api/live-feed.ts';

/** After this many failed attempts, the page no longer promises that it will reconnect soon. */
const MAX_HOPEFUL_ATTEMPTS = 3;

/**
 * The message about the connection; `undefined` if there is none. `reachable` is false after a call without
 * a response, and `live` is the live connection of the page, if it has one.
 */
export function connectionMessage(
  reachable: boolean,
  live: Pick<LiveStatus, 'lost' | 'state' | 'failedAttempts'>,
): string | undefined {
  if (live.lost && (live.state === 'ended' || live.failedAttempts >= MAX_HOPEFUL_ATTEMPTS))
    return 'Not connected to real-time updates. Refresh the page to reconnect.';
  if (!reachable) return "Can't reach the server. Reconnecting…";
  if (live.lost) return 'Reconnecting…';
  return undefined;
}
