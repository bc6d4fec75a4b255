import { findUserBy, lockUser, toSessionRecord } from '../../database/records.ts';
import type { SessionRecord, SignedIn } from '../../database/records.ts';
import { freeing, inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';

/** The session of a token, with its user; `undefined` when it is unknown or expired at `now`. */
async function findSession(db: EngineDatabase, tokenHash: string, now: number): Promise<SignedIn | undefined> {
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

/** Starts a session. False when the user does not exist or no longer has the password hash `passwordHash`. */
async function createSession(
  transaction: EngineTransaction,
  tokenHash: string,
  session: SessionRecord,
  passwordHash: string | null,
): Promise<boolean> {
  // Locked, so that a password change either comes first and is seen here, or comes later and ends this session too.
  const user = await lockUser(transaction, session.userId);
  if (user === undefined || user.passwordHash !== passwordHash) return false;
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
  return true;
}

async function touchSession(
  db: EngineDatabase,
  tokenHash: string,
  lastSeenAt: number,
  expiresAt: number,
): Promise<void> {
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

export const sessionQueries = {
  findSession: read(findSession),
  listSessions: read(listSessions),
  createSession: freeing(inTransaction(createSession)),
  touchSession: freeing(touchSession),
  renewSession: write(renewSession),
  endSession: freeing(endSession),
  endSessions: freeing(endSessions),
};
