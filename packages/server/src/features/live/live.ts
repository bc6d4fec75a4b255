import type { LiveEvent } from './live-event.ts';

/** What the rest of the server tells the live view. */
export interface Live {
  /** True when somebody watches the endpoint. */
  isWatched(endpointId: number): boolean;
  publish(endpointId: number, event: LiveEvent): void;
  /** Closes the sockets of a session with 4401, because it ended. */
  endSession(sessionId: string): void;
  /** Closes the sockets of all sessions of a user but one. */
  endUserSessions(userId: number, exceptSessionId?: string): void;
}
