import type { PackedCaptures } from './packed-captures.ts';
import type { SessionKind } from './postgres/session.ts';
import type { UnavailableReason } from './storage-problem.ts';
import type { CaptureLimits, CaptureOutcome, DiskState } from './store.ts';

/** Start parameters of a SQLite thread. */
export interface SqliteThreadData {
  readonly role: 'writer' | 'reader';
  readonly dataDir: string;
}

/** Start parameters of the PostgreSQL search thread. */
export interface ScanThreadData {
  readonly role: 'scanner';
  readonly url: string;
  readonly sessions: SessionKind;
}

export type ThreadData = SqliteThreadData | ScanThreadData;

/** Messages from the main thread. */
export type ToThread =
  | { readonly kind: 'query'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'captures'; readonly id: number; readonly batch: PackedCaptures; readonly limits: CaptureLimits }
  | { readonly kind: 'close'; readonly id: number };

/**
 * Messages to the main thread. `problem` is a sentence for the operator. An `unavailable` failure is caused by the
 * disk, not by the call.
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
