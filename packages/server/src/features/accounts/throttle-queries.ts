import type { Selectable } from 'kysely';
import type { ThrottlesTable } from '../../database/account-schema.ts';
import type { ThrottleStore } from '../../database/account-store.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { afterReturn, afterTurn } from '../../database/throttle-rule.ts';
import type { ThrottleState } from '../../database/throttle-rule.ts';
import type { Unbound } from '../../database/unbound.ts';

function toState(row: Selectable<ThrottlesTable>): ThrottleState {
  return { count: row.count, blockedUntil: row.blocked_until, forgetAt: row.forget_at };
}

/**
 * The key's row, created if needed and locked until the transaction ends, so that parallel turns are counted one after
 * another.
 */
async function lockRow(transaction: DatabaseTransaction, key: string): Promise<ThrottleState> {
  const row = await transaction
    .insertInto('throttles')
    .values({ key, count: 0, blocked_until: 0, forget_at: 0 })
    .onConflict((conflict) => conflict.column('key').doUpdateSet((set) => ({ key: set.ref('excluded.key') })))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toState(row);
}

async function keep(transaction: DatabaseTransaction, key: string, state: ThrottleState): Promise<void> {
  await transaction
    .updateTable('throttles')
    .set({ count: state.count, blocked_until: state.blockedUntil, forget_at: state.forgetAt })
    .where('key', '=', key)
    .execute();
}

export const throttleReads = {
  async findTurns(db, keys) {
    const rows = await db.selectFrom('throttles').select(['key', 'blocked_until']).where('key', 'in', keys).execute();
    return rows.map((row) => ({ key: row.key, blockedUntil: row.blocked_until }));
  },
} satisfies Unbound<Pick<ThrottleStore, 'findTurns'>>;

export const throttleWrites = {
  async consumeTurn(db, key, rule, now) {
    return db.transaction().execute(async (transaction) => {
      const before = await lockRow(transaction, key);
      const after = afterTurn(before, rule, now);
      if (after === undefined) return { blockedUntil: before.blockedUntil };
      await keep(transaction, key, after);
      return undefined;
    });
  },
  async refundTurn(db, key, rule) {
    await db.transaction().execute(async (transaction) => {
      await keep(transaction, key, afterReturn(await lockRow(transaction, key), rule));
    });
  },
  async resetTurns(db, key) {
    await db.deleteFrom('throttles').where('key', '=', key).execute();
  },
} satisfies Unbound<Pick<ThrottleStore, 'consumeTurn' | 'refundTurn' | 'resetTurns'>>;
