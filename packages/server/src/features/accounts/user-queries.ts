import { identityKey } from '@creel/contract';
import type { AccountStore, Identity, NewUser, UserRecord } from '../../database/account-store.ts';
import { usernameKey } from '../../database/username-key.ts';
import type { Database, DatabaseTransaction } from '../../database/schema.ts';
import { removeEndpoint } from '../endpoints/queries.ts';
import type { EngineDatabase, Unbound } from '../../database/unbound.ts';
import { lockUser, toUserRecord } from '../../database/user-record.ts';

type Taken = 'username' | 'email' | 'identity';

/** Thrown while creating, so that the transaction rolls back. */
class AlreadyTaken extends Error {}

function toRow(user: NewUser) {
  return {
    username: user.username,
    username_key: usernameKey(user.username),
    email: user.email,
    email_key: identityKey(user.email),
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
  };
}

async function insertUser(
  transaction: DatabaseTransaction,
  user: NewUser,
  identity: Identity | undefined,
): Promise<UserRecord> {
  const row = await transaction
    .insertInto('users')
    .values(toRow(user))
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new AlreadyTaken();
  if (identity !== undefined) {
    const linked = await transaction
      .insertInto('identities')
      .values({ issuer: identity.issuer, subject: identity.subject, user_id: row.id, created_at: user.createdAt })
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_id')
      .executeTakeFirst();
    if (linked === undefined) throw new AlreadyTaken();
  }
  return toUserRecord(row);
}

async function takenOf(db: Database, user: NewUser, identity: Identity | undefined): Promise<Taken[]> {
  const keys = { username: usernameKey(user.username), email: identityKey(user.email) };
  const others = await db
    .selectFrom('users')
    .select(['username_key', 'email_key'])
    .where((where) => where.or([where('username_key', '=', keys.username), where('email_key', '=', keys.email)]))
    .execute();
  const taken: Taken[] = [];
  if (others.some((other) => other.username_key === keys.username)) taken.push('username');
  if (others.some((other) => other.email_key === keys.email)) taken.push('email');
  if (identity === undefined) return taken;
  const linked = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', identity.issuer)
    .where('subject', '=', identity.subject)
    .executeTakeFirst();
  return linked === undefined ? taken : [...taken, 'identity'];
}

async function createUser(
  db: EngineDatabase,
  user: NewUser,
  identity?: Identity,
): Promise<{ user: UserRecord } | { taken: Taken[] }> {
  try {
    return { user: await db.transaction().execute((transaction) => insertUser(transaction, user, identity)) };
  } catch (error) {
    if (error instanceof AlreadyTaken) return { taken: await takenOf(db, user, identity) };
    throw error;
  }
}

async function deleteUser(db: EngineDatabase, id: number): Promise<{ id: number; uid: string }[] | undefined> {
  return db.transaction().execute(async (transaction) => {
    if ((await lockUser(transaction, id)) === undefined) return undefined;
    const endpoints = await transaction
      .selectFrom('endpoints')
      .select(['id', 'uid'])
      .where('user_id', '=', id)
      // Locks endpoints in the same order as every transaction, so that two can't deadlock.
      .orderBy('id')
      .execute();
    for (const endpoint of endpoints) await removeEndpoint(transaction, endpoint.id);
    await transaction.deleteFrom('users').where('id', '=', id).execute();
    return endpoints;
  });
}

export const accountReads = {
  async findUser(db, id) {
    const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
    return row && toUserRecord(row);
  },
  async findUserByName(db, username) {
    const key = usernameKey(username);
    const row = await db.selectFrom('users').selectAll().where('username_key', '=', key).executeTakeFirst();
    return row && toUserRecord(row);
  },
  async findUserByEmail(db, email) {
    const key = identityKey(email);
    const row = await db.selectFrom('users').selectAll().where('email_key', '=', key).executeTakeFirst();
    return row && toUserRecord(row);
  },
} satisfies Unbound<Pick<AccountStore, 'findUser' | 'findUserByName' | 'findUserByEmail'>>;

async function ownerOf(db: Database, key: string): Promise<number | undefined> {
  const row = await db.selectFrom('users').select('id').where('username_key', '=', key).executeTakeFirst();
  return row?.id;
}

async function renameUser(db: EngineDatabase, id: number, username: string): Promise<UserRecord | 'taken' | undefined> {
  const key = usernameKey(username);
  const owner = await ownerOf(db, key);
  if (owner !== undefined && owner !== id) return 'taken';
  try {
    const row = await db
      .updateTable('users')
      .set({ username, username_key: key })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row && toUserRecord(row);
  } catch (error) {
    // A concurrent call may have taken the name, which the unique index then rejects.
    const winner = await ownerOf(db, key);
    if (winner !== undefined && winner !== id) return 'taken';
    throw error;
  }
}

async function replacePassword(db: EngineDatabase, id: number, before: string | null, after: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const result = await transaction
      .updateTable('users')
      .set({ password_hash: after })
      .where('id', '=', id)
      .where('password_hash', before === null ? 'is' : '=', before)
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) return false;
    // Links that were requested under the old password must not undo the new one.
    await transaction.deleteFrom('mail_tokens').where('user_id', '=', id).where('purpose', '=', 'reset').execute();
    return true;
  });
}

export const accountWrites = {
  createUser,
  renameUser,
  replacePassword,
  async saveSettings(db, id, settings) {
    const result = await db
      .updateTable('users')
      .set({ settings: JSON.stringify(settings) })
      .where('id', '=', id)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  },
  deleteUser,
  async keepSecret(db, name, candidate) {
    await db
      .insertInto('secrets')
      .values({ name, value: candidate })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirstOrThrow();
    return row.value;
  },
} satisfies Unbound<
  Pick<AccountStore, 'createUser' | 'renameUser' | 'replacePassword' | 'saveSettings' | 'deleteUser' | 'keepSecret'>
>;
