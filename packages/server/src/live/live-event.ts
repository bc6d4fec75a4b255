import type { CapturedRequest } from '@creel/contract';

/** What happens to an endpoint, as its viewers are told. */
export type LiveEvent =
  /** A capture was stored. It is presented only when somebody is sent it. */
  | { readonly type: 'request'; readonly index: number; readonly present: () => CapturedRequest }
  | { readonly type: 'saved'; readonly oldId: number; readonly request: CapturedRequest }
  | { readonly type: 'deleted'; readonly id: number }
  | { readonly type: 'clear' }
  /** The endpoint itself was changed. */
  | { readonly type: 'changed' }
  /** The endpoint is gone; its viewers are sent away. */
  | { readonly type: 'gone' };
