import { findUserBy, lockUser, toSessionRecord, toUserRecord } from '../../database/records.ts';
import type { SessionRecord, LoggedIn, UserRecord } from '../../database/records.ts';
import { freeing, inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';
import { identityKey } from '@creel/contract';
import { retrySkippedNotices } from '../endpoints/queries.ts';
import type { Database, DatabaseTransaction } from '../../database/schema.ts';

/** The session of a token, with its user; `undefined` when it is unknown or expired at `now`. */
async function findSession(db: EngineDatabase, tokenHash: string, now: number): Promise<LoggedIn | undefined> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const user = await findUserBy(db, 'id', row.user_id);
  return user && { session: toSessionRecord(row), user };
}

/** Sessions that are valid at `now`, newest first. */
async function listSessions(db: EngineDatabase, userId: number, now: number): Promise<readonly SessionRecord[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map(toSessionRecord);
}

/** Maximum sessions of a user. Programs may log in for each run, and never log out. */
export const MAX_SESSIONS = 1000;

/**
 * Starts a session. Ends those beyond the maximum that were not used for the longest time, and returns their public ids.
 * `undefined` when the user does not exist or no longer has the password hash `passwordHash`.
 */
async function createSession(
  transaction: EngineTransaction,
  tokenHash: string,
  session: SessionRecord,
  passwordHash: string | null,
): Promise<string[] | undefined> {
  // Locked, so that a password change either comes first and is seen here, or comes later and ends this session too.
  const user = await lockUser(transaction, session.userId);
  if (user === undefined || user.passwordHash !== passwordHash) return undefined;
  const kept = transaction
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', session.userId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('id')
    .limit(MAX_SESSIONS - 1);
  const ended = await transaction
    .deleteFrom('sessions')
    .where('user_id', '=', session.userId)
    .where('id', 'not in', kept)
    .returning('id')
    .execute();
  await transaction
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
  return ended.map(({ id }) => id);
}

async function touchSession(db: EngineDatabase, tokenHash: string, lastSeenAt: number, expiresAt: number) {
  await db
    .updateTable('sessions')
    .set({ last_seen_at: lastSeenAt, expires_at: expiresAt })
    .where('token_hash', '=', tokenHash)
    .execute();
}

/** Replaces a session's token; the old token becomes invalid. False when the session does not exist. */
async function renewSession(db: EngineDatabase, id: string, tokenHash: string): Promise<boolean> {
  const result = await db
    .updateTable('sessions')
    .set({ token_hash: tokenHash })
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Ends a session. Returns its public id, or `undefined` when there was none. */
async function endSession(db: EngineDatabase, tokenHash: string): Promise<string | undefined> {
  const row = await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).returning('id').executeTakeFirst();
  return row?.id;
}

/** Ends all sessions of a user except the one with this public id. */
async function endSessions(db: EngineDatabase, userId: number, exceptId?: string): Promise<void> {
  let ended = db.deleteFrom('sessions').where('user_id', '=', userId);
  if (exceptId !== undefined) ended = ended.where('id', '!=', exceptId);
  await ended.execute();
}

export type MailTokenPurpose = 'reset' | 'verify';

/** The user of a valid token, if the user's address is still the one that it was emailed to. */
async function findToken(
  db: Database,
  tokenHash: string,
  purpose: MailTokenPurpose,
  now: number,
): Promise<UserRecord | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('mail_tokens', 'mail_tokens.user_id', 'users.id')
    .selectAll('users')
    .where('mail_tokens.token_hash', '=', tokenHash)
    .where('mail_tokens.purpose', '=', purpose)
    .where('mail_tokens.expires_at', '>', now)
    .whereRef('mail_tokens.email_key', '=', 'users.email_key')
    .executeTakeFirst();
  return row && toUserRecord(row);
}

/** Consumes a token. Of several parallel calls, the one that deletes its row succeeds. */
async function consumeToken(transaction: DatabaseTransaction, tokenHash: string): Promise<boolean> {
  const result = await transaction.deleteFrom('mail_tokens').where('token_hash', '=', tokenHash).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/**
 * Sets a password with an emailed token; of several parallel calls one wins and the others get `undefined`. Ends the
 * user's sessions, identities and links. Verifies the address, because the caller has read the email. Resets
 * `settings.email` to it, because another holder of the account may have changed that.
 */
async function resetPassword(transaction: EngineTransaction, tokenHash: string, passwordHash: string, now: number) {
  const found = await findToken(transaction, tokenHash, 'reset', now);
  const owner = found && (await lockUser(transaction, found.id));
  if (owner === undefined) return undefined;
  if (!(await consumeToken(transaction, tokenHash))) return undefined;
  await transaction.deleteFrom('mail_tokens').where('user_id', '=', owner.id).execute();
  await transaction.deleteFrom('sessions').where('user_id', '=', owner.id).execute();
  // A previous holder of the account may have linked an identity. A legitimate link is created again at the next
  // login.
  await transaction.deleteFrom('identities').where('user_id', '=', owner.id).execute();
  const row = await transaction
    .updateTable('users')
    .set({
      password_hash: passwordHash,
      email_verified: 1,
      settings: JSON.stringify({ ...owner.settings, email: owner.email }),
    })
    .where('id', '=', owner.id)
    .returningAll()
    .executeTakeFirst();
  await retrySkippedNotices(transaction, owner.id);
  return row && toUserRecord(row);
}

/** Stores the token of an emailed link. Older ones stay valid, so that a stranger's request does not cancel them. */
async function createMailToken(
  transaction: EngineTransaction,
  tokenHash: string,
  userId: number,
  purpose: MailTokenPurpose,
  expiresAt: number,
): Promise<void> {
  const user = await lockUser(transaction, userId);
  if (user === undefined) return;
  await transaction
    .insertInto('mail_tokens')
    .values({
      token_hash: tokenHash,
      user_id: userId,
      purpose,
      email_key: identityKey(user.email),
      expires_at: expiresAt,
    })
    .execute();
}

/** Verifies the user's address with an emailed token. False when the token is unknown or belongs to another user. */
async function verifyEmail(transaction: EngineTransaction, tokenHash: string, userId: number, now: number) {
  const owner = await findToken(transaction, tokenHash, 'verify', now);
  // Locks the user before the link, in the same order as every transaction, so that two can't deadlock.
  if (owner?.id !== userId || (await lockUser(transaction, userId)) === undefined) return false;
  if (!(await consumeToken(transaction, tokenHash))) return false;
  await transaction.deleteFrom('mail_tokens').where('user_id', '=', userId).where('purpose', '=', 'verify').execute();
  await transaction.updateTable('users').set({ email_verified: 1 }).where('id', '=', userId).execute();
  await retrySkippedNotices(transaction, userId);
  return true;
}

/** SQL of sessions and emailed links. Both are tokens, of which the database has only the hash. */
export const tokenQueries = {
  findSession: read(findSession),
  listSessions: read(listSessions),
  createSession: freeing(inTransaction(createSession)),
  touchSession: freeing(touchSession),
  renewSession: write(renewSession),
  endSession: freeing(endSession),
  endSessions: freeing(endSessions),
  findMailToken: read(findToken),
  createMailToken: write(inTransaction(createMailToken)),
  resetPassword: write(inTransaction(resetPassword)),
  verifyEmail: write(inTransaction(verifyEmail)),
};
