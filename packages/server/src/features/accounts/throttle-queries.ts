import type { Selectable } from 'kysely';
import type { DatabaseTransaction, Tables } from '../../database/schema.ts';
import { freeing, inTransaction, read } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';

/** The key's row, created if needed. Its lock makes parallel attempts count one after another. */
async function lockRow(transaction: DatabaseTransaction, key: string): Promise<ThrottleState> {
  return transaction
    .insertInto('throttles')
    .values({ key, ...NEW_STATE })
    .onConflict((conflict) => conflict.column('key').doUpdateSet((set) => ({ key: set.ref('excluded.key') })))
    .returning(['count', 'blocked_until', 'forget_at'])
    .executeTakeFirstOrThrow();
}

async function keep(transaction: DatabaseTransaction, key: string, state: ThrottleState): Promise<void> {
  await transaction.updateTable('throttles').set(state).where('key', '=', key).execute();
}

/** The end of the longest block of the keys that does not end after `latest`. In the past when none is blocked. */
async function findBlock(db: EngineDatabase, keys: readonly string[], latest = Infinity): Promise<number> {
  const rows = await db.selectFrom('throttles').select('blocked_until').where('key', 'in', keys).execute();
  return Math.max(0, ...rows.map((row) => row.blocked_until).filter((until) => until <= latest));
}

/** Adds one to the count. When the key is blocked, returns until when. Safe under parallel calls. */
async function consumeAttempt(transaction: EngineTransaction, key: string, rule: ThrottleRule, now: number) {
  const before = await lockRow(transaction, key);
  const after = afterAttempt(before, rule, now);
  if (after === undefined) return before.blocked_until;
  await keep(transaction, key, after);
  return undefined;
}

async function refundAttempt(transaction: EngineTransaction, key: string, rule: ThrottleRule): Promise<void> {
  await keep(transaction, key, afterRefund(await lockRow(transaction, key), rule));
}

async function resetAttempts(db: EngineDatabase, key: string): Promise<void> {
  await db.deleteFrom('throttles').where('key', '=', key).execute();
}

export const throttleQueries = {
  findBlock: read(findBlock),
  consumeAttempt: freeing(inTransaction(consumeAttempt)),
  refundAttempt: freeing(inTransaction(refundAttempt)),
  resetAttempts: freeing(resetAttempts),
};

/** How often something may be tried. Plain data, so that it can be sent to a storage thread. */
export interface ThrottleRule {
  /** Attempts per window. The window starts with the first attempt. */
  readonly attempts: number;
  readonly windowMs: number;
  /**
   * Without it, the key is blocked until the window ends after the attempts are used up. With it, every further attempt
   * doubles the wait, from `firstMs` to `maxMs`, and the count is deleted `forgetMs` after the last attempt.
   */
  readonly growing?: { readonly firstMs: number; readonly maxMs: number; readonly forgetMs: number };
}

/** The stored state of a key. Times in milliseconds. */
type ThrottleState = Omit<Selectable<Tables['throttles']>, 'key'>;

export const NEW_STATE: ThrottleState = { count: 0, blocked_until: 0, forget_at: 0 };

/** The latest end of a block. A later one was set before the clock was set back. Twice the longest, because the clocks of nodes differ. */
export function latestBlock({ growing, windowMs }: ThrottleRule, now: number): number {
  return now + 2 * (growing?.maxMs ?? windowMs);
}

/** The state after one more attempt, or `undefined` when the key is blocked. */
export function afterAttempt(state: ThrottleState, rule: ThrottleRule, now: number): ThrottleState | undefined {
  const isCurrent = now < state.forget_at && state.blocked_until <= latestBlock(rule, now);
  const before = isCurrent ? state : { ...NEW_STATE, forget_at: now + rule.windowMs };
  if (now < before.blocked_until) return undefined;
  const count = before.count + 1;
  if (count < rule.attempts) return { ...before, count };
  if (rule.growing === undefined) return { ...before, count, blocked_until: before.forget_at };
  const { firstMs, maxMs, forgetMs } = rule.growing;
  const waitMs = Math.min(firstMs * 2 ** (count - rule.attempts), maxMs);
  return { count, blocked_until: now + waitMs, forget_at: now + forgetMs };
}

/** The state with one attempt fewer. Removes a block that this attempt caused. */
export function afterRefund(state: ThrottleState, rule: ThrottleRule): ThrottleState {
  const count = Math.max(0, state.count - 1);
  return { ...state, count, blocked_until: count < rule.attempts ? 0 : state.blocked_until };
}
