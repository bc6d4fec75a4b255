import type { LiveStatus } from '../api/live-feed.ts';
import type { ServerState } from '../api/server-state.ts';

const SERVER_MESSAGES: Record<ServerState, string | undefined> = {
  up: undefined,
  unreachable: "Can't reach the server. Reconnecting…",
  unavailable: "The server can't load data now. Trying again…",
};

/** The message about the connection; `undefined` if there is none. `live` is the page's connection, if it has one. */
export function connectionMessage(server: ServerState, live: Pick<LiveStatus, 'lost'>): string | undefined {
  if (live.lost) return 'Not connected to real-time updates. Refresh the page to reconnect.';
  return SERVER_MESSAGES[server];
}
