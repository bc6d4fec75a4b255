import { sql } from 'kysely';
import { requestKey } from '../request-key.ts';
import type { Upkeep } from '../store.ts';
import { removeEndpoint } from './endpoint-queries.ts';
import type { Unbound } from './unbound.ts';

export const upkeepWrites = {
  async checkWritable(db, now) {
    await db
      .insertInto('counters')
      .values({ name: 'checked_at', value: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: now }))
      .execute();
  },
  async purgeSome(db, limit) {
    return db.transaction().execute(async (transaction) => {
      const purge = await transaction.selectFrom('purges').selectAll().orderBy('id').limit(1).executeTakeFirst();
      if (purge === undefined) return false;
      const gone = await transaction
        .deleteFrom('captured_requests')
        .where('key', 'in', (rows) =>
          rows
            .selectFrom('captured_requests')
            .select('key')
            .where('key', '>=', requestKey(purge.endpoint_id, 0))
            .where('key', '<', requestKey(purge.endpoint_id, purge.below_index))
            .orderBy('key')
            .limit(limit),
        )
        .executeTakeFirst();
      if (gone.numDeletedRows < BigInt(limit)) await transaction.deleteFrom('purges').where('id', '=', purge.id).execute();
      return true;
    });
  },
  async deleteExpiredEndpoints(db, before, limit) {
    return db.transaction().execute(async (transaction) => {
      const due = await transaction.selectFrom('endpoints').select(['id', 'uid']).where('expires_at', '<', before).orderBy('expires_at').limit(limit).execute();
      const removed: { id: number; uid: string }[] = [];
      for (const endpoint of due) {
        // Looked at once more with the row held: a renewal that came between must win.
        const still = await transaction
          .updateTable('endpoints')
          .set({ id: sql`id` })
          .where('id', '=', endpoint.id)
          .where('expires_at', '<', before)
          .returning('id')
          .executeTakeFirst();
        if (still !== undefined && (await removeEndpoint(transaction, endpoint.id))) removed.push(endpoint);
      }
      return removed;
    });
  },
  async deleteExpiredSessions(db, now) {
    await db.deleteFrom('sessions').where('expires_at', '<=', now).execute();
  },
} satisfies Unbound<Pick<Upkeep, 'checkWritable' | 'purgeSome' | 'deleteExpiredEndpoints' | 'deleteExpiredSessions'>>;
