import type { ProblemCode } from '@creel/contract';
import type { Carried, Errand } from './carry.ts';

/** Messages to the thread: a replay to send, or its cancellation. */
export type ToThread =
  | { readonly id: number; readonly errand: Errand }
  | { readonly id: number; readonly isGone: true };

/** Messages from the thread: the response, an error for the caller, or an unexpected failure. */
export type FromThread =
  | { readonly id: number; readonly carried: CarriedBytes }
  | { readonly id: number; readonly problem: { readonly code: ProblemCode; readonly sentence: string } }
  | { readonly id: number; readonly failure: unknown };

/** A `Buffer` crosses threads as a byte array. */
export type CarriedBytes = Omit<Carried, 'body'> & { readonly body: Uint8Array<ArrayBuffer> };
