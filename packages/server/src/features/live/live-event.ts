import type { CapturedRequest, LiveMessage } from '@creel/contract';

/** A capture was stored. It is presented only when somebody is sent it. */
export interface RequestEvent {
  readonly type: 'request';
  readonly index: number;
  /** Bytes that are held until it is presented or dropped. */
  readonly bytes: number;
  readonly present: () => CapturedRequest;
}

/** What a viewer is told of the requests of its endpoint, in the order in which it happened. */
export type FeedEvent =
  | RequestEvent
  | { readonly type: 'saved'; readonly oldId: number; readonly request: CapturedRequest }
  | { readonly type: 'deleted'; readonly id: number }
  | { readonly type: 'clear' };

/** What happens to an endpoint. */
export type LiveEvent =
  | FeedEvent
  /** The endpoint itself was changed. */
  | { readonly type: 'changed' }
  /** The endpoint is gone; its viewers are sent away. */
  | { readonly type: 'gone' };

/** The endpoint's own message. */
export type EndpointMessage = Extract<LiveMessage, { type: 'endpoint' }>;
