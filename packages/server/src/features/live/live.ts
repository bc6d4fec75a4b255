import type { LiveEvent } from './live-event.ts';

/** The live view's interface for the rest of the server. */
export interface Live {
  /** True when the endpoint has a viewer. */
  isWatched(endpointId: number): boolean;
  publish(endpointId: number, event: LiveEvent): void;
  /** Closes the connections of an ended session with 4401. */
  endSession(sessionId: string): void;
  /** Closes the connections of all sessions of a user except one. */
  endUserSessions(userId: number, exceptSessionId?: string): void;
}
