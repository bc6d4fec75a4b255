import type { ProblemCode } from '@creel/contract';

/** Where the answer to a capture goes. One of the two is called, once. */
export interface CaptureReply {
  /** It is on disk, under this index. */
  captured(index: number): void;
  /** It was not kept. `retryAfter`: seconds. */
  refused(code: ProblemCode, retryAfter?: number): void;
}
