import { PLANS, isProvenAddress } from '@creel/contract';
import { sql } from 'kysely';
import type { ExpressionBuilder, Selectable } from 'kysely';
import { z } from 'zod';
import { indexOfKey, keyRange, removeDeliveries } from '../../database/stored-request.ts';
import type { DatabaseTransaction, Tables } from '../../database/schema.ts';
import { findUserBy } from '../../database/records.ts';
import type { UserRecord } from '../../database/records.ts';
import { removeEndpoint } from '../endpoints/queries.ts';
import { SIZE } from '../requests/queries.ts';
import { addMail } from '../mail/queries.ts';
import { freeing, inTransaction, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';

type Purge = Selectable<Tables['purges']>;

/** The oldest purge, locked: a second process waits and then continues where the first one ended. */
async function lockPurge(transaction: DatabaseTransaction): Promise<Purge | undefined> {
  return transaction
    .updateTable('purges')
    .set({ below_index: sql`below_index` })
    .where('id', '=', (purges) => purges.selectFrom('purges').select((select) => select.fn.min<number>('id').as('id')))
    .returningAll()
    .executeTakeFirst();
}

/** Bytes of bodies per step, except for a single larger one. Captures wait while SQLite frees their pages: 1 to 2 ms per MB. */
const MAX_PURGED_BYTES = 8 * 1024 * 1024;

/** Removes a purge's next rows. Returns the index after the last of them, or `undefined` when none are left. */
async function removeRows(transaction: DatabaseTransaction, purge: Purge, limit: number): Promise<number | undefined> {
  const { endpoint_id, from_index, below_index } = purge;
  const rows = await transaction
    .selectFrom('captured_requests')
    .select([indexOfKey.as('index'), SIZE.as('bytes')])
    .where(keyRange('key', endpoint_id, from_index, below_index))
    .orderBy('key')
    .limit(limit)
    .execute();
  let bytes = 0;
  const tooMany = rows.find((row, nth) => (bytes += row.bytes) > MAX_PURGED_BYTES && nth > 0);
  const end = rows.length < limit ? undefined : Math.max(...rows.map((row) => row.index)) + 1;
  const next = tooMany?.index ?? end;
  const below = next ?? below_index;
  await transaction
    .deleteFrom('captured_requests')
    .where(keyRange('key', endpoint_id, from_index, below))
    .execute();
  await removeDeliveries(transaction, keyRange('request_key', endpoint_id, from_index, below));
  return next;
}

/** Removes up to `limit` rows of cleared or deleted endpoints; false when nothing is left. */
async function purgeSome(transaction: EngineTransaction, limit: number): Promise<boolean> {
  const purge = await lockPurge(transaction);
  if (purge === undefined)
    return (await transaction.selectFrom('purges').select('id').limit(1).executeTakeFirst()) !== undefined;
  const next = await removeRows(transaction, purge, limit);
  if (next === undefined) await transaction.deleteFrom('purges').where('id', '=', purge.id).execute();
  else await transaction.updateTable('purges').set({ from_index: next }).where('id', '=', purge.id).execute();
  return true;
}

/** Deletes up to `limit` endpoints that expired before `before`; returns their ids. */
async function deleteExpiredEndpoints(transaction: EngineTransaction, before: number, limit: number) {
  const due = await transaction
    .selectFrom('endpoints')
    .select('id')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
  const removed: number[] = [];
  // Locks endpoints in the order of ids, like every transaction, so that two can't deadlock.
  for (const { id } of due.toSorted((a, b) => a.id - b.id)) {
    // Checked again with the row locked, because a renewal in between must win.
    const still = await transaction
      .selectFrom('endpoints')
      .select('id')
      .where('id', '=', id)
      .where('expires_at', '<', before)
      .modifyEnd(transaction.engine.locks.alone)
      .executeTakeFirst();
    if (still !== undefined && (await removeEndpoint(transaction, id))) removed.push(id);
  }
  return removed;
}

/** Removes expired sessions, emailed links, proven identities and throttles. */
async function deleteStaleAccountRows(db: EngineDatabase, now: number): Promise<void> {
  for (const table of ['sessions', 'mail_tokens', 'proven_identities'] as const)
    await db.deleteFrom(table).where('expires_at', '<=', now).execute();
  await db.deleteFrom('throttles').where('forget_at', '<=', now).execute();
}

/** Endpoints that expire within a day, of one owner. */
export const expiryNoticeSchema = z.object({
  kind: z.literal('endpoints-expire'),
  /** `expiresAt` in milliseconds since 1970. */
  endpoints: z.array(z.object({ uid: z.string(), expiresAt: z.int() })),
});
type ExpiryNotice = z.infer<typeof expiryNoticeSchema>;

/** Notices go only to verified addresses of users who want them. */
export function wantsExpiryNotice(user: UserRecord): boolean {
  const { emailNotifyExpiry, email } = user.settings;
  return emailNotifyExpiry && PLANS[user.subscriptionTier].emailNotifications && isProvenAddress(user, email);
}

/** Endpoints that expire in a period and whose notice is neither claimed nor skipped. */
const isDue = (from: number, until: number) => (where: ExpressionBuilder<Tables, 'endpoints'>) =>
  where.and([
    where('expires_at', '>', from),
    where('expires_at', '<=', until),
    where.or([where('noticed_expiry', 'is', null), where(sql`abs(noticed_expiry)`, '<>', where.ref('expires_at'))]),
  ]);

/**
 * Writes the notices of up to `limit` endpoints that expire after `from` and at or before `until`, one email per owner.
 * Owners who do not want notices get none: theirs are skipped until `retrySkippedNotices`. Returns the number of
 * endpoints.
 */
async function addExpiryNotices(transaction: EngineTransaction, from: number, until: number, limit: number) {
  const due = await transaction
    .selectFrom('endpoints')
    .select('id')
    .where(isDue(from, until))
    .orderBy('expires_at')
    .limit(limit)
    .execute();
  const noticed = [];
  // Locks endpoints in the order of ids, like every transaction.
  for (const { id } of due.toSorted((a, b) => a.id - b.id)) {
    // Checked again with the row locked, so that only one process writes it.
    const endpoint = await transaction
      .updateTable('endpoints')
      .set((set) => ({ noticed_expiry: set.ref('expires_at') }))
      .where('id', '=', id)
      .where(isDue(from, until))
      .returning(['id', 'uid', 'user_id as userId', sql<number>`expires_at`.as('expiresAt')])
      .executeTakeFirst();
    if (endpoint !== undefined) noticed.push(endpoint);
  }
  for (const [userId, own] of Map.groupBy(noticed, (endpoint) => endpoint.userId)) {
    const user = await findUserBy(transaction, 'id', userId);
    if (user === undefined || !wantsExpiryNotice(user)) {
      const ids = own.map(({ id }) => id);
      await transaction
        .updateTable('endpoints')
        .set({ noticed_expiry: sql`-expires_at` })
        .where('id', 'in', ids)
        .execute();
      continue;
    }
    const endpoints = own.map(({ uid, expiresAt }) => ({ uid, expiresAt }));
    await addMail(transaction, userId, { kind: 'endpoints-expire', endpoints } satisfies ExpiryNotice);
  }
  return noticed.length;
}

export const jobQueries = {
  purgeSome: freeing(inTransaction(purgeSome)),
  deleteExpiredEndpoints: freeing(inTransaction(deleteExpiredEndpoints)),
  deleteStaleAccountRows: freeing(deleteStaleAccountRows),
  addExpiryNotices: write(inTransaction(addExpiryNotices)),
};
