import { identityKey } from '@creel/contract';
import type { Selectable } from 'kysely';
import { lockUser, toUserRecord } from '../../database/records.ts';
import type { UserRecord } from '../../database/records.ts';
import type { Database, DatabaseTransaction, Tables } from '../../database/schema.ts';
import { inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';

/** An identity that a browser has just proved at the provider. */
export type ProvenIdentity = Readonly<ReturnType<typeof toProvenIdentity>>;

/** An identity at a third party. `subject` is unique only together with its issuer (OpenID Connect Core 5.7). */
export type Identity = Pick<ProvenIdentity, 'issuer' | 'subject'>;

function toProvenIdentity(row: Selectable<Tables['proven_identities']>) {
  return {
    issuer: row.issuer,
    subject: row.subject,
    email: row.email,
    emailVerified: row.email_verified === 1,
    displayName: row.display_name,
  };
}

export async function findUserByIdentity(db: Database, identity: Identity): Promise<UserRecord | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('identities', 'identities.user_id', 'users.id')
    .selectAll('users')
    .where('identities.issuer', '=', identity.issuer)
    .where('identities.subject', '=', identity.subject)
    .executeTakeFirst();
  return row && toUserRecord(row);
}

async function findProvenIdentity(db: EngineDatabase, handleHash: string, now: number) {
  const row = await db
    .selectFrom('proven_identities')
    .selectAll()
    .where('handle_hash', '=', handleHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row && toProvenIdentity(row);
}

/**
 * Links the identity to the user with this email, if the user has verified that email. False when not, or when the
 * identity is linked already. The caller checks that the provider has verified it too.
 */
async function linkIdentity(transaction: EngineTransaction, identity: Identity, email: string, createdAt: number) {
  const found = await transaction
    .selectFrom('users')
    .select('id')
    .where('email_key', '=', identityKey(email))
    .executeTakeFirst();
  const user = found && (await lockUser(transaction, found.id));
  if (user === undefined || !user.emailVerified || identityKey(user.email) !== identityKey(email)) return false;
  return addIdentity(transaction, identity, user.id, createdAt);
}

/** Links the identity to a user. False when it is linked already. */
export async function addIdentity(
  transaction: DatabaseTransaction,
  { issuer, subject }: Identity,
  userId: number,
  createdAt: number,
): Promise<boolean> {
  const linked = await transaction
    .insertInto('identities')
    .values({ issuer, subject, user_id: userId, created_at: createdAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return linked !== undefined;
}

async function storeProvenIdentity(db: EngineDatabase, handleHash: string, proven: ProvenIdentity, expiresAt: number) {
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
}

/** Consumes a proven identity. Of several parallel calls exactly one returns true. */
async function consumeProvenIdentity(db: EngineDatabase, handleHash: string): Promise<boolean> {
  const result = await db.deleteFrom('proven_identities').where('handle_hash', '=', handleHash).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** SQL of identities at a login provider. */
export const identityQueries = {
  findUserByIdentity: read(findUserByIdentity),
  findProvenIdentity: read(findProvenIdentity),
  linkIdentity: write(inTransaction(linkIdentity)),
  storeProvenIdentity: write(storeProvenIdentity),
  consumeProvenIdentity: write(consumeProvenIdentity),
};
