import type { LiveStatus } from '../api/live-feed.ts';

/**
 * The message about the connection; `undefined` if there is none. `reachable` is false after a call without
 * a response, and `live` is the live connection of the page, if it has one.
 */
export function connectionMessage(reachable: boolean, live: Pick<LiveStatus, 'lost'>): string | undefined {
  if (live.lost) return 'Not connected to real-time updates. Refresh the page to reconnect.';
  return reachable ? undefined : "Can't reach the server. Reconnecting…";
}
