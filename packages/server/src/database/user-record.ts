import { DEFAULT_USER_SETTINGS, billingIntervalSchema, tierSchema, userSettingsSchema } from '@creel/contract';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { UserRecord } from './store.ts';
import type { DatabaseTransaction, UsersTable } from './schema.ts';

/** Created once, because creating a schema costs more than parsing a row. Older rows lack newer settings. */
const storedSettingsSchema = z
  .record(z.string(), z.unknown())
  .transform((stored) => userSettingsSchema.parse({ ...DEFAULT_USER_SETTINGS, ...stored }));
const storedIntervalSchema = billingIntervalSchema.nullable();

export function toUserRecord(row: Selectable<UsersTable>): UserRecord {
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    emailVerified: row.email_verified === 1,
    passwordHash: row.password_hash,
    displayName: row.display_name,
    subscriptionTier: tierSchema.parse(row.subscription_tier),
    subscriptionStatus: row.subscription_status,
    subscriptionEndAt: row.subscription_end_at,
    billingInterval: storedIntervalSchema.parse(row.billing_interval),
    stripeCustomerId: row.stripe_customer_id,
    stripeSubscriptionId: row.stripe_subscription_id,
    settings: storedSettingsSchema.parse(JSON.parse(row.settings)),
    createdAt: row.created_at,
  };
}

/**
 * A user whose row is locked until the transaction ends; `undefined` when there is none. Locks by a write, because
 * SQLite has no `for update`.
 */
export async function lockUser(transaction: DatabaseTransaction, id: number): Promise<UserRecord | undefined> {
  const row = await transaction
    .updateTable('users')
    .set({ created_at: sql`created_at` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toUserRecord(row);
}

/**
 * The key that decides the uniqueness of usernames. It folds more than `identityKey` for addresses: also letters whose
 * case changes their number or form, such as ß and SS, ς and σ. In addresses those are different mailboxes.
 */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
}
