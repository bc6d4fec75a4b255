import type { CapturedRequest, DeliverySummary, LiveMessage } from '@creel/contract';

/** A capture was stored. It is presented only when it is sent to a viewer. */
export interface RequestEvent {
  readonly type: 'request';
  readonly index: number;
  /** Bytes that the event holds until it is presented or dropped. */
  readonly bytes: number;
  readonly present: () => CapturedRequest;
}

/** Events about the requests of an endpoint, in order. */
export type FeedEvent =
  | RequestEvent
  | { readonly type: 'saved'; readonly oldId: number; readonly request: CapturedRequest }
  | { readonly type: 'deleted'; readonly id: number }
  | { readonly type: 'clear' }
  | { readonly type: 'delivery'; readonly index: number; readonly delivery: DeliverySummary };

/** Events of an endpoint. */
export type LiveEvent =
  | FeedEvent
  /** The endpoint itself was changed. */
  | { readonly type: 'changed' }
  /** The endpoint was deleted; its live connections are closed. */
  | { readonly type: 'endpoint-deleted' };

/** The `endpoint` message. */
export type EndpointMessage = Extract<LiveMessage, { type: 'endpoint' }>;

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
