import type { ProblemCode } from '@creel/contract';
import type { Carried, Errand } from './carry.ts';

/** What the thread is told: a replay to carry, or that nobody waits for it any more. */
export type ToThread =
  | { readonly id: number; readonly errand: Errand }
  | { readonly id: number; readonly isGone: true };

/** What it answers: the target's answer, what the caller is told instead, or what nobody foresaw. */
export type FromThread =
  | { readonly id: number; readonly carried: CarriedBytes }
  | { readonly id: number; readonly problem: { readonly code: ProblemCode; readonly sentence: string } }
  | { readonly id: number; readonly failure: unknown };

/** On its way between threads a `Buffer` is an array of bytes. */
export type CarriedBytes = Omit<Carried, 'body'> & { readonly body: Uint8Array<ArrayBuffer> };
