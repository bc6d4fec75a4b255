import { identityKey } from '@creel/contract';
import type { Selectable } from 'kysely';
import type { ProvenIdentitiesTable } from '../../database/account-schema.ts';
import type { IdentityStore, ProvenIdentity } from '../../database/account-store.ts';
import type { Unbound } from '../../database/unbound.ts';
import { lockUser, toUserRecord } from '../../database/user-record.ts';

function toProvenIdentity(row: Selectable<ProvenIdentitiesTable>): ProvenIdentity {
  return {
    issuer: row.issuer,
    subject: row.subject,
    email: row.email,
    emailVerified: row.email_verified === 1,
    displayName: row.display_name,
  };
}

export const identityReads = {
  async findUserByIdentity(db, identity) {
    const row = await db
      .selectFrom('users')
      .innerJoin('identities', 'identities.user_id', 'users.id')
      .selectAll('users')
      .where('identities.issuer', '=', identity.issuer)
      .where('identities.subject', '=', identity.subject)
      .executeTakeFirst();
    return row && toUserRecord(row);
  },
  async findProvenIdentity(db, handleHash, now) {
    const row = await db
      .selectFrom('proven_identities')
      .selectAll()
      .where('handle_hash', '=', handleHash)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    return row && toProvenIdentity(row);
  },
} satisfies Unbound<Pick<IdentityStore, 'findUserByIdentity' | 'findProvenIdentity'>>;

export const identityWrites = {
  async linkIdentity(db, identity, email, createdAt) {
    return db.transaction().execute(async (transaction) => {
      const found = await transaction
        .selectFrom('users')
        .select('id')
        .where('email_key', '=', identityKey(email))
        .executeTakeFirst();
      const user = found && (await lockUser(transaction, found.id));
      if (user === undefined || !user.emailVerified || identityKey(user.email) !== identityKey(email)) return false;
      const linked = await transaction
        .insertInto('identities')
        .values({ issuer: identity.issuer, subject: identity.subject, user_id: user.id, created_at: createdAt })
        .onConflict((conflict) => conflict.doNothing())
        .returning('user_id')
        .executeTakeFirst();
      return linked !== undefined;
    });
  },
  async keepProvenIdentity(db, handleHash, proven, expiresAt) {
    await db
      .insertInto('proven_identities')
      .values({
        handle_hash: handleHash,
        issuer: proven.issuer,
        subject: proven.subject,
        email: proven.email,
        email_verified: proven.emailVerified ? 1 : 0,
        display_name: proven.displayName,
        expires_at: expiresAt,
      })
      .execute();
  },
  async useProvenIdentity(db, handleHash) {
    const result = await db.deleteFrom('proven_identities').where('handle_hash', '=', handleHash).executeTakeFirst();
    return result.numDeletedRows > 0n;
  },
} satisfies Unbound<Pick<IdentityStore, 'linkIdentity' | 'keepProvenIdentity' | 'useProvenIdentity'>>;
