import { sql } from 'kysely';
import { indexOfKey, requestKey } from '../../database/request-key.ts';
import { removeDeliveries } from '../requests/queries.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import type { Upkeep } from '../../database/store.ts';
import { removeEndpoint } from '../endpoints/queries.ts';
import type { EngineDatabase, Unbound } from '../../database/unbound.ts';

interface Purge {
  readonly id: number;
  readonly endpoint_id: number;
  readonly from_index: number;
  readonly below_index: number;
}

/** The oldest purge, locked: a second process waits and then continues where the first one ended. */
async function lockPurge(transaction: DatabaseTransaction): Promise<Purge | undefined> {
  return transaction
    .updateTable('purges')
    .set({ below_index: sql`below_index` })
    .where('id', '=', (purges) => purges.selectFrom('purges').select((select) => select.fn.min<number>('id').as('id')))
    .returningAll()
    .executeTakeFirst();
}

/** Removes a purge's next rows. Returns the index after the last of them, or `undefined` when none are left. */
async function removeRows(transaction: DatabaseTransaction, purge: Purge, limit: number): Promise<number | undefined> {
  const removed = await transaction
    .deleteFrom('captured_requests')
    .where('key', 'in', (rows) =>
      rows
        .selectFrom('captured_requests')
        .select('key')
        .where('key', '>=', requestKey(purge.endpoint_id, purge.from_index))
        .where('key', '<', requestKey(purge.endpoint_id, purge.below_index))
        .orderBy('key')
        .limit(limit),
    )
    .returning(indexOfKey.as('index'))
    .execute();
  const next = removed.length < limit ? undefined : Math.max(...removed.map((row) => row.index)) + 1;
  const { endpoint_id, from_index, below_index } = purge;
  await removeDeliveries(
    transaction,
    requestKey(endpoint_id, from_index),
    requestKey(endpoint_id, next ?? below_index),
  );
  return next;
}

async function purgeSome(db: EngineDatabase, limit: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const purge = await lockPurge(transaction);
    if (purge === undefined)
      return (await transaction.selectFrom('purges').select('id').limit(1).executeTakeFirst()) !== undefined;
    const next = await removeRows(transaction, purge, limit);
    if (next === undefined) await transaction.deleteFrom('purges').where('id', '=', purge.id).execute();
    else await transaction.updateTable('purges').set({ from_index: next }).where('id', '=', purge.id).execute();
    return true;
  });
}

async function deleteExpiredEndpoints(
  db: EngineDatabase,
  before: number,
  limit: number,
): Promise<{ id: number; uid: string }[]> {
  return db.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('endpoints')
      .select(['id', 'uid'])
      .where('expires_at', '<', before)
      .orderBy('expires_at')
      .limit(limit)
      .execute();
    const removed: { id: number; uid: string }[] = [];
    // Locks endpoints in the order of ids, like every transaction, so that two can't deadlock.
    for (const endpoint of due.toSorted((a, b) => a.id - b.id)) {
      // Checked again with the row locked, because a renewal in between must win.
      const still = await transaction
        .updateTable('endpoints')
        .set({ next_index: sql`next_index` })
        .where('id', '=', endpoint.id)
        .where('expires_at', '<', before)
        .returning('id')
        .executeTakeFirst();
      if (still !== undefined && (await removeEndpoint(transaction, endpoint.id))) removed.push(endpoint);
    }
    return removed;
  });
}

export const maintenanceWrites = {
  async checkWritable(db, now) {
    await db
      .insertInto('counters')
      .values({ name: 'checked_at', value: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: now }))
      .execute();
  },
  purgeSome,
  deleteExpiredEndpoints,
  async deleteExpiredSessions(db, now) {
    await db.deleteFrom('sessions').where('expires_at', '<=', now).execute();
  },
  async deleteStaleAccountRows(db, now) {
    await db.deleteFrom('mail_tokens').where('expires_at', '<=', now).execute();
    await db.deleteFrom('proven_identities').where('expires_at', '<=', now).execute();
    await db.deleteFrom('throttles').where('forget_at', '<=', now).execute();
  },
} satisfies Unbound<
  Pick<
    Upkeep,
    'checkWritable' | 'purgeSome' | 'deleteExpiredEndpoints' | 'deleteExpiredSessions' | 'deleteStaleAccountRows'
  >
>;
