import { DEFAULT_USER_SETTINGS, billingIntervalSchema, tierSchema, userSettingsSchema } from '@creel/contract';
import type { Selectable } from 'kysely';
import type { Database, SessionsTable, UsersTable } from '../schema.ts';
import type { AccountStore, NewUser, SessionRecord, UserRecord } from '../store.ts';
import type { Unbound } from './unbound.ts';

/** What uniqueness is judged by: compatibility forms folded, lower case (contract 2). */
export function identityKey(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

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
    billingInterval: billingIntervalSchema.nullable().parse(row.billing_interval),
    stripeCustomerId: row.stripe_customer_id,
    stripeSubscriptionId: row.stripe_subscription_id,
    settings: { ...DEFAULT_USER_SETTINGS, ...userSettingsSchema.partial().parse(JSON.parse(row.settings)) },
    createdAt: row.created_at,
  };
}

function toSessionRecord(row: Selectable<SessionsTable>): SessionRecord {
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

async function createUser(db: Database, user: NewUser): Promise<{ user: UserRecord } | { taken: ('username' | 'email')[] }> {
  const keys = { username_key: identityKey(user.username), email_key: identityKey(user.email) };
  const row = await db
    .insertInto('users')
    .values({
      ...keys,
      username: user.username,
      email: user.email,
      email_verified: user.emailVerified ? 1 : 0,
      password_hash: user.passwordHash,
      display_name: user.displayName,
      subscription_tier: user.subscriptionTier,
      subscription_status: 'inactive',
      subscription_end_at: null,
      billing_interval: null,
      stripe_customer_id: null,
      stripe_subscription_id: null,
      stripe_customer_metadata: null,
      settings: JSON.stringify(user.settings),
      created_at: user.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return { user: toUserRecord(row) };
  const others = await db
    .selectFrom('users')
    .select(['username_key', 'email_key'])
    .where((where) => where.or([where('username_key', '=', keys.username_key), where('email_key', '=', keys.email_key)]))
    .execute();
  const taken: ('username' | 'email')[] = [];
  if (others.some((other) => other.username_key === keys.username_key)) taken.push('username');
  if (others.some((other) => other.email_key === keys.email_key)) taken.push('email');
  return { taken };
}

export const accountReads = {
  async findUser(db, id) {
    const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
    return row && toUserRecord(row);
  },
  async findUserByName(db, username) {
    const row = await db.selectFrom('users').selectAll().where('username_key', '=', identityKey(username)).executeTakeFirst();
    return row && toUserRecord(row);
  },
  async findSession(db, tokenHash, now) {
    const row = await db.selectFrom('sessions').selectAll().where('token_hash', '=', tokenHash).where('expires_at', '>', now).executeTakeFirst();
    if (row === undefined) return undefined;
    const user = await db.selectFrom('users').selectAll().where('id', '=', row.user_id).executeTakeFirst();
    return user && { session: toSessionRecord(row), user: toUserRecord(user) };
  },
  async isSessionOpen(db, id, now) {
    const row = await db.selectFrom('sessions').select('id').where('id', '=', id).where('expires_at', '>', now).executeTakeFirst();
    return row !== undefined;
  },
} satisfies Unbound<Pick<AccountStore, 'findUser' | 'findUserByName' | 'findSession' | 'isSessionOpen'>>;

export const accountWrites = {
  createUser,
  async createSession(db, tokenHash, session) {
    await db
      .insertInto('sessions')
      .values({
        token_hash: tokenHash,
        id: session.id,
        user_id: session.userId,
        created_at: session.createdAt,
        last_seen_at: session.lastSeenAt,
        expires_at: session.expiresAt,
        user_agent: session.userAgent,
        ip: session.ip,
      })
      .execute();
  },
  async touchSession(db, tokenHash, lastSeenAt, expiresAt) {
    await db.updateTable('sessions').set({ last_seen_at: lastSeenAt, expires_at: expiresAt }).where('token_hash', '=', tokenHash).execute();
  },
  async endSession(db, tokenHash) {
    const row = await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).returning('id').executeTakeFirst();
    return row?.id;
  },
} satisfies Unbound<Pick<AccountStore, 'createUser' | 'createSession' | 'touchSession' | 'endSession'>>;
