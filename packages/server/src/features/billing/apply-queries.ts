import { PLANS, isProvenAddress } from '@creel/contract';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { removeEndpoint, retrySkippedNotices } from '../endpoints/queries.ts';
import { addMail } from '../mail/queries.ts';
import { inTransaction, write } from '../../database/remote.ts';
import type { EngineTransaction } from '../../database/remote.ts';
import { lockUser, toEndpointRecord } from '../../database/records.ts';
import type { UserRecord } from '../../database/records.ts';
import { downgradeEffect, fieldsFor, isDowngrade, noticeOf } from './rules.ts';
import type { SubscriptionFields, SubscriptionState } from './rules.ts';

/**
 * Writes the gateway's state of a subscription: the user's fields, the effects of another plan on endpoints, and the
 * notice. `lost` when another process has taken over the account; `undefined` when the user does not exist.
 */
async function applySubscription(
  transaction: EngineTransaction,
  userId: number,
  lockOwner: string,
  current: SubscriptionState | undefined,
  at: { readonly now: number; readonly nextCheckAt: number },
) {
  const before = await lockUser(transaction, userId);
  if (before === undefined) return undefined;
  const kept = await transaction
    .updateTable('billing_accounts')
    .set({ period_end_at: current?.periodEndAt ?? null, next_check_at: at.nextCheckAt })
    .where('user_id', '=', userId)
    .where('lock_owner', '=', lockOwner)
    .executeTakeFirst();
  if (kept.numUpdatedRows === 0n) return 'lost';
  const fields = fieldsFor(current, before);
  const user = { ...before, ...fields };
  await writeFields(transaction, userId, fields);
  await addNotice(transaction, before, user);
  if (user.subscriptionTier === before.subscriptionTier) return { user, deleted: [], changed: [] };
  if (isDowngrade(before.subscriptionTier, user.subscriptionTier))
    return { user, ...(await downgradeEndpoints(transaction, user, at.now)) };
  await retrySkippedNotices(transaction, userId);
  return { user, deleted: [], changed: await extendEndpoints(transaction, user, at.now) };
}

async function writeFields(transaction: DatabaseTransaction, userId: number, fields: SubscriptionFields) {
  await transaction
    .updateTable('users')
    .set({
      subscription_tier: fields.subscriptionTier,
      subscription_status: fields.subscriptionStatus,
      subscription_end_at: fields.subscriptionEndAt,
      billing_interval: fields.billingInterval,
      stripe_subscription_id: fields.stripeSubscriptionId,
    })
    .where('id', '=', userId)
    .execute();
}

async function addNotice(transaction: DatabaseTransaction, before: UserRecord, after: UserRecord): Promise<void> {
  const notice = noticeOf(before, after);
  const hasPaidPlan = [before, after].some(({ subscriptionTier }) => PLANS[subscriptionTier].emailNotifications);
  const { emailNotifySubscription: isWanted, email } = after.settings;
  if (notice === undefined || !hasPaidPlan || !isWanted || !isProvenAddress(after, email)) return;
  await addMail(transaction, after.id, notice);
}

/** Applies `downgradeEffect`. Returns the ids of the endpoints that it deleted, and of those whose expiry it changed. */
async function downgradeEndpoints(transaction: DatabaseTransaction, user: UserRecord, now: number) {
  const rows = await transaction.selectFrom('endpoints').selectAll().where('user_id', '=', user.id).execute();
  const { deletes, keeps, expiresInMs } = downgradeEffect(user.subscriptionTier, rows.map(toEndpointRecord), now);
  const deleted = deletes.map(({ id }) => id);
  // Locks endpoints in the order of ids, like every transaction.
  for (const { id } of [...deletes, ...keeps].toSorted((a, b) => a.id - b.id)) {
    if (deleted.includes(id)) await removeEndpoint(transaction, id);
    else
      await transaction
        .updateTable('endpoints')
        .set({ is_favorite: 0, expires_at: now + expiresInMs })
        .where('id', '=', id)
        .execute();
  }
  return { deleted, changed: keeps.map(({ id }) => id) };
}

/** After an upgrade: endpoints expire no earlier than a new one of the higher plan. Returns the ids of those that it changed. */
async function extendEndpoints(transaction: DatabaseTransaction, user: UserRecord, now: number) {
  const expiresAt = now + PLANS[user.subscriptionTier].expiryMs;
  const rows = await transaction
    .selectFrom('endpoints')
    .select('id')
    .where('user_id', '=', user.id)
    .where('expires_at', '>', now)
    .where('expires_at', '<', expiresAt)
    .orderBy('id')
    .execute();
  for (const { id } of rows)
    await transaction.updateTable('endpoints').set({ expires_at: expiresAt }).where('id', '=', id).execute();
  return rows.map(({ id }) => id);
}

export const applyQueries = { applySubscription: write(inTransaction(applySubscription)) };
