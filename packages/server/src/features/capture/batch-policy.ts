/** What the writer knows of the batches so far. */
export interface BatchState {
  /** Captures that are worth a batch of their own. */
  readonly enough: number;
  /** Milliseconds that a batch takes, the newest ones counting most. */
  readonly batchMs: number;
}

export const FIRST_BATCH: BatchState = { enough: 1, batchMs: 0 };

/** When to send what has been gathered: at once, after this turn of the event loop, or after some milliseconds at the latest. */
export type BatchMoment = 'now' | 'after-turn' | { readonly withinMs: number };

/**
 * How long captures wait at most for others that are expected: a part of what a batch takes, within these bounds, so that nobody waits
 * long for senders that left while storage was stuck.
 */
const MAX_HOLD_OF_BATCH = 1 / 4;
const MIN_HOLD_MS = 1;
const MAX_HOLD_MS = 10;
/**
 * Above this many milliseconds per sender, a batch waits for all senders, below it for half of them. Two groups by turns save the time
 * to read and answer one of them, some 30 µs per sender, and cost a second sync. On a slow disk the sync costs more.
 */
const SLOW_MS_PER_SENDER = 0.032;
/** The weight of the last batch in `batchMs`. */
const NEWEST = 1 / 8;

/**
 * Senders that wait for responses before they send again form two groups: one is with storage while the other is read. Without the
 * hold, the first few to come back would get a sync of their own, and the others would wait for it. A single sender is not held.
 */
export function whenToSend({ enough, batchMs }: BatchState, gathered: number): BatchMoment {
  if (enough === 1) return 'after-turn';
  if (gathered >= enough) return 'now';
  return { withinMs: Math.min(MAX_HOLD_MS, Math.max(MIN_HOLD_MS, batchMs * MAX_HOLD_OF_BATCH)) };
}

/** The state after a batch. `inFlight`: the captures of the batch and those that arrived meanwhile. */
export function afterBatch({ batchMs }: BatchState, tookMs: number, inFlight: number): BatchState {
  const average = batchMs + (tookMs - batchMs) * NEWEST;
  return { enough: average > inFlight * SLOW_MS_PER_SENDER ? inFlight : Math.ceil(inFlight / 2), batchMs: average };
}
