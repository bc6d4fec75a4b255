import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../../database/schema.ts';
import type { ExpiryNotice, Upkeep } from '../../database/store.ts';
import type { EngineDatabase, Unbound } from '../../database/unbound.ts';
import { toUserRecord } from '../../database/user-record.ts';

/** Endpoints that expire in a period and whose notice is not claimed. */
const isDue = (from: number, until: number) => (where: ExpressionBuilder<Tables, 'endpoints'>) =>
  where.and([
    where('expires_at', '>', from),
    where('expires_at', '<=', until),
    where.or([where('noticed_expiry', 'is', null), where('noticed_expiry', '<>', where.ref('expires_at'))]),
  ]);

async function claimExpiryNotices(
  db: EngineDatabase,
  from: number,
  until: number,
  limit: number,
): Promise<ExpiryNotice[]> {
  return db.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('endpoints')
      .select('id')
      .where(isDue(from, until))
      .orderBy('expires_at')
      .limit(limit)
      .execute();
    const notices: ExpiryNotice[] = [];
    // Locks endpoints in the order of ids, like every transaction.
    for (const { id } of due.toSorted((a, b) => a.id - b.id)) {
      // Checked again with the row locked, so that only one process claims it.
      const endpoint = await transaction
        .updateTable('endpoints')
        .set((set) => ({ noticed_expiry: set.ref('expires_at') }))
        .where('id', '=', id)
        .where(isDue(from, until))
        .returning(['id', 'uid', 'name', 'expires_at', 'user_id'])
        .executeTakeFirst();
      if (endpoint === undefined || endpoint.expires_at === null) continue;
      const user = await transaction
        .selectFrom('users')
        .selectAll()
        .where('id', '=', endpoint.user_id)
        .executeTakeFirst();
      if (user === undefined) continue;
      const { uid, name, expires_at: expiresAt } = endpoint;
      notices.push({ endpointId: endpoint.id, uid, name, expiresAt, user: toUserRecord(user) });
    }
    return notices;
  });
}

export const noticeWrites = {
  claimExpiryNotices,
  async releaseExpiryNotices(db, notices) {
    for (const { endpointId, expiresAt } of notices) {
      await db
        .updateTable('endpoints')
        .set({ noticed_expiry: null })
        .where('id', '=', endpointId)
        .where('noticed_expiry', '=', expiresAt)
        .execute();
    }
  },
} satisfies Unbound<Pick<Upkeep, 'claimExpiryNotices' | 'releaseExpiryNotices'>>;
