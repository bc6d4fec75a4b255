import type { ProblemCode } from '@creel/contract';
import type { OutboundResponse, OutboundRequest } from './send-request.ts';

/** Messages to the thread: a replay to send, or its cancellation. */
export type ToThread =
  | { readonly id: number; readonly request: OutboundRequest }
  | { readonly id: number; readonly isAborted: true };

/** Messages from the thread: the response, an error for the caller, or an unexpected failure. */
export type FromThread =
  | { readonly id: number; readonly response: OutboundResponseBytes }
  | { readonly id: number; readonly problem: { readonly code: ProblemCode; readonly sentence: string } }
  | { readonly id: number; readonly failure: unknown };

/** A `Buffer` crosses threads as a byte array. */
export type OutboundResponseBytes = Omit<OutboundResponse, 'body'> & { readonly body: Uint8Array<ArrayBuffer> };
