import { DEFAULT_USER_SETTINGS, billingIntervalSchema, tierSchema, userSettingsSchema } from '@creel/contract';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import { z } from 'zod';
import type { EngineDatabase, EngineTransaction } from './remote.ts';
import type { Database, Tables } from './schema.ts';

/** Created once, because creating a schema costs more than parsing a row. Older rows lack newer settings. */
const storedSettingsSchema = z
  .record(z.string(), z.unknown())
  .transform((stored) => userSettingsSchema.parse({ ...DEFAULT_USER_SETTINGS, ...stored }));
const storedIntervalSchema = billingIntervalSchema.nullable();

/** A row of `users` with parsed values. Records are what the server works with; only queries see rows. */
export type UserRecord = Readonly<ReturnType<typeof toUserRecord>>;

/** Converts a row of `users`. @throws Error for values that no version of Creel writes */
export function toUserRecord(row: Selectable<Tables['users']>) {
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

/** A row of `sessions`, without the hash of its token. */
export type SessionRecord = Readonly<ReturnType<typeof toSessionRecord>>;

/** Converts a row of `sessions`. */
export function toSessionRecord(row: Selectable<Tables['sessions']>) {
  return {
    id: row.id,
    userId: row.user_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    userAgent: row.user_agent,
    ip: row.ip,
  };
}

/** A row of `endpoints` with parsed values. */
export type EndpointRecord = Readonly<ReturnType<typeof toEndpointRecord>>;

/** Converts a row of `endpoints`. */
export function toEndpointRecord(row: Selectable<Tables['endpoints']>) {
  return {
    id: row.id,
    uid: row.uid,
    userId: row.user_id,
    name: row.name,
    source: row.source,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    autosave: row.autosave === 1,
    isFavorite: row.is_favorite === 1,
    savedCount: row.saved_count,
    unsavedCount: row.unsaved_count,
    /** Captures since the creation or the last clear. */
    capturedCount: row.next_index - row.first_index,
    newestIndex: row.next_index - 1,
    /** How many of them were dropped, because newer unsaved ones took their place. */
    droppedCount: row.dropped_count,
    latestAt: row.latest_at,
    /** Whether its captures may be forwarded. */
    hasDestinations: row.planned_to !== null,
    /** Null without a signing secret. */
    signingScheme: row.signing_scheme,
  };
}

/** A user with a session. */
export interface LoggedIn {
  readonly session: SessionRecord;
  readonly user: UserRecord;
}

/** Number and body bytes of the stored requests with one method. */
export type MethodCount = Readonly<Pick<Tables['endpoint_method_counts'], 'method' | 'stored' | 'bytes'>>;

/** The user with this value in a column that is unique. */
export async function findUserBy(
  db: Database,
  column: 'id' | 'username_key' | 'email_key' | 'stripe_customer_id',
  value: number | string,
): Promise<UserRecord | undefined> {
  const row = await db.selectFrom('users').selectAll().where(column, '=', value).executeTakeFirst();
  return row && toUserRecord(row);
}

/** The stored value of a name, the same in every process. If there is none, `value` is stored. */
export async function keepFirstValue(
  db: Database,
  table: 'secrets' | 'billing_settings',
  name: string,
  value: string,
): Promise<string> {
  await db
    .insertInto(table)
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await db.selectFrom(table).select('value').where('name', '=', name).executeTakeFirstOrThrow()).value;
}

/** The user, with its row locked until the transaction ends. */
export async function lockUser(transaction: EngineTransaction, id: number): Promise<UserRecord | undefined> {
  const user = transaction.selectFrom('users').selectAll().where('id', '=', id);
  const row = await user.modifyEnd(transaction.engine.locks.change).executeTakeFirst();
  return row && toUserRecord(row);
}

/**
 * The key that decides the uniqueness of usernames. Names that are equal after Unicode's full case folding and NFKC
 * have the same key. Unlike `identityKey` for addresses, it also folds letters whose case changes their number or form,
 * such as ẞ, ß and SS, ς and σ. In addresses those are different mailboxes.
 */
export function usernameKey(username: string): string {
  // In lower case first, because ẞ is its own upper case.
  const folded = username.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();
  return folded.normalize('NFKC').replaceAll('ς', 'σ');
}

/**
 * Finds a user by name, ignoring case. Prefers the one with exactly this spelling, because a new rule for keys can give
 * two existing names the same key, which only one of them has.
 */
export async function findUserByName(db: Database, username: string): Promise<UserRecord | undefined> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where((where) => where.or([where('username', '=', username), where('username_key', '=', usernameKey(username))]))
    .execute();
  const row = rows.find((found) => found.username === username) ?? rows[0];
  return row && toUserRecord(row);
}

/** The end of a claim that begins now, by the database's clock, because those of the processes differ. */
export function claimEnd({ engine }: EngineDatabase, claimMs: number): RawBuilder<number> {
  return sql<number>`${engine.clock} + ${sql.lit(claimMs)}`;
}

/**
 * Whether an earlier claim of `claimMs` is over, by the column with its end. An end that is too far away was set before
 * the clock was set back. Twice the length, so that a clock that is set back by little ends no claim.
 */
export function isClaimOver(db: EngineDatabase, column: string, claimMs: number) {
  const end = sql.ref<number>(column);
  return sql<boolean>`(${end} <= ${db.engine.clock} or ${end} > ${claimEnd(db, 2 * claimMs)})`;
}
