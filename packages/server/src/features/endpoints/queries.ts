import type { Tier } from '@creel/contract';
import { sql } from 'kysely';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { lockUser, toEndpointRecord } from '../../database/records.ts';
import type { EndpointRecord, MethodCount } from '../../database/records.ts';
import { freeing, read, write } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';

export interface EndpointDetailRecord extends EndpointRecord {
  readonly methodCounts: readonly MethodCount[];
}

export interface NewEndpoint extends Pick<
  EndpointRecord,
  'uid' | 'userId' | 'name' | 'source' | 'createdAt' | 'expiresAt' | 'autosave'
> {
  /** The plan whose limits the caller applies. */
  readonly tier?: Tier;
}

export interface EndpointChanges {
  readonly name?: string | null;
  readonly source?: string | null;
  readonly autosave?: boolean;
  /**
   * True: at most `limit` of the user's endpoints may be favorites, and an expired endpoint is revived if fewer than
   * `endpointLimit` are unexpired at `now`. False: expires at `expiresAt`.
   */
  readonly favorite?:
    | {
        readonly on: true;
        readonly limit: number;
        readonly endpointLimit: number;
        readonly now: number;
        /** The plan whose limits the caller applies. */
        readonly tier?: Tier;
      }
    | { readonly on: false; readonly expiresAt: number };
}

/** The format of a uid. PostgreSQL rejects some other texts, such as one with a NUL. */
const UID = /^[A-Za-z0-9_-]+$/;

/** Finds an endpoint of any owner by its exact uid. */
async function findEndpoint(db: EngineDatabase, uid: string): Promise<EndpointRecord | undefined> {
  if (!UID.test(uid)) return undefined;
  const row = await db.selectFrom('endpoints').selectAll().where('uid', '=', uid).executeTakeFirst();
  return row && toEndpointRecord(row);
}

/** Favorites first, then newest first. */
async function listEndpoints(db: EngineDatabase, userId: number): Promise<readonly EndpointRecord[]> {
  const rows = await db
    .selectFrom('endpoints')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('is_favorite', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toEndpointRecord);
}

async function findEndpointDetail(db: EngineDatabase, uid: string): Promise<EndpointDetailRecord | undefined> {
  const endpoint = await findEndpoint(db, uid);
  if (endpoint === undefined) return undefined;
  const methodCounts = await db
    .selectFrom('endpoint_method_counts')
    .select(['method', 'stored', 'bytes'])
    .where('endpoint_id', '=', endpoint.id)
    .where('stored', '>', 0)
    .execute();
  return { ...endpoint, methodCounts };
}

/** Number of unexpired endpoints, which count against the plan's limit. */
async function liveEndpointsOf(transaction: DatabaseTransaction, userId: number, now: number): Promise<number> {
  const row = await transaction
    .selectFrom('endpoints')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return row.count;
}

async function favoritesOf(transaction: DatabaseTransaction, userId: number, exceptId: number): Promise<number> {
  const row = await transaction
    .selectFrom('endpoints')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('is_favorite', '=', 1)
    .where('id', '!=', exceptId)
    .executeTakeFirstOrThrow();
  return row.count;
}

/**
 * Changes an endpoint. `undefined` when it does not exist, a limit when the user has the maximum number of favorites
 * or endpoints, `stale-plan` when the user's plan is no longer `favorite.tier`.
 */
async function changeEndpoint(
  db: EngineDatabase,
  id: number,
  changes: EndpointChanges,
): Promise<EndpointRecord | 'limit' | 'endpoint-limit' | 'stale-plan' | undefined> {
  return db.transaction().execute(async (transaction) => {
    const before = await transaction
      .selectFrom('endpoints')
      .select(['user_id', 'is_favorite', 'expires_at'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (before === undefined) return undefined;
    const { favorite } = changes;
    if (favorite?.on) {
      // Locked, so that the count and the change are atomic even if the plan changes.
      const owner = await lockUser(transaction, before.user_id);
      if (favorite.tier !== undefined && owner?.subscriptionTier !== favorite.tier) return 'stale-plan';
      if ((await favoritesOf(transaction, before.user_id, id)) >= favorite.limit) return 'limit';
      // A favorite never expires. An expired one is revived and counts again.
      const isExpired = before.expires_at !== null && before.expires_at <= favorite.now;
      if (isExpired && (await liveEndpointsOf(transaction, before.user_id, favorite.now)) >= favorite.endpointLimit)
        return 'endpoint-limit';
    }
    const row = await transaction
      .updateTable('endpoints')
      .set({
        ...(changes.name === undefined ? {} : { name: changes.name }),
        ...(changes.source === undefined ? {} : { source: changes.source }),
        ...(changes.autosave === undefined ? {} : { autosave: changes.autosave ? 1 : 0 }),
        ...(favorite?.on ? { is_favorite: 1, expires_at: null } : {}),
        // Removing a mark that is not set must not extend the endpoint's life.
        ...(favorite?.on === false && before.is_favorite === 1
          ? { is_favorite: 0, expires_at: favorite.expiresAt }
          : {}),
        // Ensures that the update always sets a column, which also locks the row.
        next_index: sql`next_index`,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row && toEndpointRecord(row);
  });
}

/**
 * Creates an endpoint unless the user has `limit` that are unexpired at `createdAt`; safe under parallel calls.
 * `undefined` when the user does not exist, `stale-plan` when the user's plan is no longer `endpoint.tier`.
 */
async function createEndpoint(
  db: EngineDatabase,
  endpoint: NewEndpoint,
  limit: number,
): Promise<EndpointRecord | 'limit' | 'stale-plan' | undefined> {
  return db.transaction().execute(async (transaction) => {
    const owner = await lockUser(transaction, endpoint.userId);
    if (owner === undefined) return undefined;
    if (endpoint.tier !== undefined && owner.subscriptionTier !== endpoint.tier) return 'stale-plan';
    if ((await liveEndpointsOf(transaction, endpoint.userId, endpoint.createdAt)) >= limit) return 'limit';
    const row = await transaction
      .insertInto('endpoints')
      .values({
        uid: endpoint.uid,
        user_id: endpoint.userId,
        name: endpoint.name,
        source: endpoint.source,
        created_at: endpoint.createdAt,
        expires_at: endpoint.expiresAt,
        autosave: endpoint.autosave ? 1 : 0,
        is_favorite: 0,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return toEndpointRecord(row);
  });
}

/** Sets the source if there is none; false when there is one or the endpoint does not exist. */
async function setDetectedSource(db: EngineDatabase, id: number, source: string): Promise<boolean> {
  const result = await db
    .updateTable('endpoints')
    .set({ source })
    .where('id', '=', id)
    .where('source', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Deletes an endpoint. Its requests are hidden at once and removed from disk by `purgeSome`. False when it does not
 * exist.
 */
async function deleteEndpoint(db: EngineDatabase, id: number): Promise<boolean> {
  return db.transaction().execute((transaction) => removeEndpoint(transaction, id));
}

/** Deletes an endpoint's row and leaves its requests to the purge. */
export async function removeEndpoint(transaction: DatabaseTransaction, id: number): Promise<boolean> {
  const row = await transaction
    .deleteFrom('endpoints')
    .where('id', '=', id)
    .returning(['first_index', 'next_index'])
    .executeTakeFirst();
  if (row === undefined) return false;
  await transaction.deleteFrom('endpoint_method_counts').where('endpoint_id', '=', id).execute();
  await transaction
    .insertInto('purges')
    .values({ endpoint_id: id, from_index: row.first_index, below_index: row.next_index })
    .execute();
  return true;
}

export const endpointQueries = {
  listEndpoints: read(listEndpoints),
  findEndpoint: read(findEndpoint),
  findEndpointDetail: read(findEndpointDetail),
  createEndpoint: write(createEndpoint),
  changeEndpoint: write(changeEndpoint),
  setDetectedSource: write(setDetectedSource),
  deleteEndpoint: freeing(deleteEndpoint),
};
