import { identityKey, PLANS, userSettingsInputSchema } from '@creel/contract';
import type { UserSettings, UserSettingsChange } from '@creel/contract';
import { addIdentity, findUserByIdentity, identityQueries } from './identity-queries.ts';
import type { Identity } from './identity-queries.ts';
import { tokenQueries } from './token-queries.ts';
import { throttleQueries } from './throttle-queries.ts';
import {
  findUserBy,
  findUserByName,
  keepFirstValue,
  usernameKey,
  lockUser,
  toUserRecord,
} from '../../database/records.ts';
import type { UserRecord } from '../../database/records.ts';
import type { Database, DatabaseTransaction } from '../../database/schema.ts';
import { removeEndpoint, retrySkippedNotices } from '../endpoints/queries.ts';
import { freeing, inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';

export type NewUser = Pick<
  UserRecord,
  | 'username'
  | 'email'
  | 'emailVerified'
  | 'passwordHash'
  | 'displayName'
  | 'subscriptionTier'
  | 'settings'
  | 'createdAt'
>;

/** A value of a new user that another account has. */
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
    settings: JSON.stringify(user.settings),
    created_at: user.createdAt,
  };
}

async function insertUser(transaction: DatabaseTransaction, user: NewUser, identity: Identity | undefined) {
  const row = await transaction
    .insertInto('users')
    .values(toRow(user))
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new AlreadyTaken();
  if (identity !== undefined && !(await addIdentity(transaction, identity, row.id, user.createdAt)))
    throw new AlreadyTaken();
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
  if (identity !== undefined && (await findUserByIdentity(db, identity)) !== undefined) taken.push('identity');
  return taken;
}

/**
 * Creates a user, linked to `identity` if given. `taken` lists the values that another account already has; it
 * includes `identity` if that is linked already. In that case nothing is created.
 */
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

/**
 * Deletes a user with sessions, identities, links and endpoints. Captured requests are hidden at once and removed
 * from disk by `purgeSome`. Returns the ids of the deleted endpoints, or `undefined` when the user does not exist.
 */
async function deleteUser(transaction: EngineTransaction, id: number): Promise<number[] | undefined> {
  if ((await lockUser(transaction, id)) === undefined) return undefined;
  const endpoints = await transaction
    .selectFrom('endpoints')
    .select('id')
    .where('user_id', '=', id)
    // Locks endpoints in the same order as every transaction, so that two can't deadlock.
    .orderBy('id')
    .execute();
  for (const endpoint of endpoints) await removeEndpoint(transaction, endpoint.id);
  await transaction.deleteFrom('users').where('id', '=', id).execute();
  return endpoints.map((endpoint) => endpoint.id);
}

/** Changes the username; `undefined` when the user does not exist. */
async function renameUser(db: EngineDatabase, id: number, username: string): Promise<UserRecord | 'taken' | undefined> {
  const key = usernameKey(username);
  const isTaken = async (): Promise<boolean> => ((await findUserBy(db, 'username_key', key))?.id ?? id) !== id;
  if (await isTaken()) return 'taken';
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
    if (await isTaken()) return 'taken';
    throw error;
  }
}

/**
 * Replaces one password hash with another; false when the current one is not `before`. Emailed links for a new
 * password become invalid.
 */
async function replacePassword(transaction: EngineTransaction, id: number, before: string | null, after: string) {
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
}

/** Why settings can't be changed: the address is invalid, or the plan has no notices. */
export type SettingsRefusal = { readonly refused: 'email' | 'notices' };

/** Changes settings, and returns all of them. `undefined` when the user does not exist. */
async function changeSettings(
  transaction: EngineTransaction,
  id: number,
  change: UserSettingsChange,
): Promise<UserSettings | SettingsRefusal | undefined> {
  const user = await lockUser(transaction, id);
  if (user === undefined) return undefined;
  const { settings, subscriptionTier } = user;
  const { data: changed } = userSettingsInputSchema.safeParse({ ...settings, ...change });
  if (changed === undefined) return { refused: 'email' };
  const isSwitchedOn = NOTICES.some((notice) => changed[notice] && !settings[notice]);
  if (isSwitchedOn && !PLANS[subscriptionTier].emailNotifications) return { refused: 'notices' };
  await transaction
    .updateTable('users')
    .set({ settings: JSON.stringify(changed) })
    .where('id', '=', id)
    .execute();
  await retrySkippedNotices(transaction, id);
  return changed;
}

const NOTICES = ['emailNotifyExpiry', 'emailNotifySubscription'] as const;

/** SQL of users, their settings, sessions, identities, emailed links and throttles. */
export const accountQueries = {
  findUser: read((db: EngineDatabase, id: number) => findUserBy(db, 'id', id)),
  findUserByName: read(findUserByName),
  /** Finds a user by email, ignoring case. */
  findUserByEmail: read((db: EngineDatabase, email: string) => findUserBy(db, 'email_key', identityKey(email))),
  createUser: write(createUser),
  renameUser: write(renameUser),
  replacePassword: write(inTransaction(replacePassword)),
  changeSettings: write(inTransaction(changeSettings)),
  deleteUser: freeing(inTransaction(deleteUser)),
  /** Returns the secret with this name, the same in every process. If there is none, `candidate` is stored. */
  findOrCreateSecret: write((db: EngineDatabase, name: string, candidate: string) =>
    keepFirstValue(db, 'secrets', name, candidate),
  ),
  ...identityQueries,
  ...tokenQueries,
  ...throttleQueries,
};
