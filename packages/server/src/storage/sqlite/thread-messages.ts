import type { PackedCaptures } from '../packed-captures.ts';
import type { UnavailableReason } from '../storage-problem.ts';
import type { CaptureLimits, CaptureOutcome, DiskState } from '../store.ts';

/** What a thread is started with. */
export interface ThreadData {
  readonly role: 'writer' | 'reader';
  readonly dataDir: string;
}

/** From the main thread. Answers come in the order of the calls, so `id` is only a check. */
export type ToThread =
  | { readonly kind: 'query'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'captures'; readonly id: number; readonly batch: PackedCaptures; readonly limits: CaptureLimits }
  | { readonly kind: 'close'; readonly id: number };

/**
 * To the main thread. `problem` is a sentence for a person. A `failure` that is `unavailable` is the disk's fault, not the call's.
 */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'captured'; readonly id: number; readonly outcome: CaptureOutcome }
  | { readonly kind: 'disk'; readonly state: DiskState }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly message: string;
      readonly unavailable: UnavailableReason | undefined;
    };
