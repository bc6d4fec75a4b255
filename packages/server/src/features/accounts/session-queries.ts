import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { SessionRecord, SessionStore } from '../../database/account-store.ts';
import type { SessionsTable } from '../../database/schema.ts';
import type { Unbound } from '../../database/unbound.ts';
import { toUserRecord } from '../../database/user-record.ts';

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

export const sessionReads = {
  async findSession(db, tokenHash, now) {
    const row = await db
      .selectFrom('sessions')
      .selectAll()
      .where('token_hash', '=', tokenHash)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const user = await db.selectFrom('users').selectAll().where('id', '=', row.user_id).executeTakeFirst();
    return user && { session: toSessionRecord(row), user: toUserRecord(user) };
  },
  async listSessions(db, userId, now) {
    const rows = await db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .where('expires_at', '>', now)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute();
    return rows.map(toSessionRecord);
  },
} satisfies Unbound<Pick<SessionStore, 'findSession' | 'listSessions'>>;

/** All columns except the user's. */
const SESSION_COLUMNS = ['token_hash', 'id', 'created_at', 'last_seen_at', 'expires_at', 'user_agent', 'ip'] as const;

export const sessionWrites = {
  async createSession(db, tokenHash, session, passwordHash) {
    const columns = {
      token_hash: tokenHash,
      id: session.id,
      created_at: session.createdAt,
      last_seen_at: session.lastSeenAt,
      expires_at: session.expiresAt,
      user_agent: session.userAgent,
      ip: session.ip,
    };
    const result = await db
      .insertInto('sessions')
      .columns(['user_id', ...SESSION_COLUMNS])
      .expression((build) =>
        build
          .selectFrom('users')
          .select('id')
          .select(SESSION_COLUMNS.map((name) => sql.val(columns[name]).as(name)))
          .where('id', '=', session.userId)
          .where('password_hash', 'is not distinct from', passwordHash)
          // Locks the user, so that a password change either comes first and is seen here, or comes later and ends this
          // session too.
          .$if(db.engine.name === 'postgres', (users) => users.forShare()),
      )
      .executeTakeFirstOrThrow();
    return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
  },
  async touchSession(db, tokenHash, lastSeenAt, expiresAt) {
    await db
      .updateTable('sessions')
      .set({ last_seen_at: lastSeenAt, expires_at: expiresAt })
      .where('token_hash', '=', tokenHash)
      .execute();
  },
  async renewSession(db, id, tokenHash) {
    const result = await db
      .updateTable('sessions')
      .set({ token_hash: tokenHash })
      .where('id', '=', id)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  },
  async endSession(db, tokenHash) {
    const row = await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).returning('id').executeTakeFirst();
    return row?.id;
  },
  async endSessions(db, userId, exceptId) {
    let ended = db.deleteFrom('sessions').where('user_id', '=', userId);
    if (exceptId !== undefined) ended = ended.where('id', '!=', exceptId);
    await ended.execute();
  },
} satisfies Unbound<
  Pick<SessionStore, 'createSession' | 'touchSession' | 'renewSession' | 'endSession' | 'endSessions'>
>;
