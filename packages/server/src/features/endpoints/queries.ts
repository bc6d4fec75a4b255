import type { Plan, Tier } from '@creel/contract';
import { sql } from 'kysely';
import { countRows } from '../../database/engine.ts';
import type { DatabaseTransaction, Tables } from '../../database/schema.ts';
import { lockUser, toEndpointRecord } from '../../database/records.ts';
import type { EndpointRecord, MethodCount } from '../../database/records.ts';
import { purgeLater } from '../requests/queries.ts';
import { freeing, inTransaction, read, write } from '../../database/remote.ts';
import type { EngineDatabase, EngineTransaction } from '../../database/remote.ts';

/** An endpoint with its counters by method. */
export interface EndpointDetailRecord extends EndpointRecord {
  readonly methodCounts: readonly MethodCount[];
}

export type NewEndpoint = Pick<EndpointRecord, 'uid' | 'userId' | 'name' | 'source' | 'createdAt' | 'autosave'>;

/** The limits of all plans. A query applies those of the plan that the user has at that moment. */
export type PlanLimits = Readonly<Record<Tier, Pick<Plan, 'endpoints' | 'favorites' | 'expiryMs'>>>;

/** The user has the maximum number of endpoints or favorites of this plan. */
export interface LimitReached {
  readonly limit: 'endpoints' | 'favorites';
  readonly tier: Tier;
}

/** Changes of an endpoint. An absent field stays as it is. */
export interface EndpointChanges {
  readonly name?: string | null | undefined;
  readonly source?: string | null | undefined;
  readonly autosave?: boolean | undefined;
  /** On: the endpoint never expires. An expired one is revived and counts again. Off: it expires by the plan. */
  readonly favorite?: { readonly on: boolean; readonly now: number; readonly plans: PlanLimits } | undefined;
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
function liveEndpointsOf(transaction: DatabaseTransaction, userId: number, now: number): Promise<number> {
  return countRows(
    transaction
      .selectFrom('endpoints')
      .where('user_id', '=', userId)
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)])),
  );
}

function favoritesOf(transaction: DatabaseTransaction, userId: number, exceptId: number): Promise<number> {
  return countRows(
    transaction
      .selectFrom('endpoints')
      .where('user_id', '=', userId)
      .where('is_favorite', '=', 1)
      .where('id', '!=', exceptId),
  );
}

/** Changes an endpoint. `undefined` when it does not exist. */
async function changeEndpoint(
  transaction: EngineTransaction,
  id: number,
  { name, source, autosave, favorite }: EndpointChanges,
): Promise<EndpointRecord | LimitReached | undefined> {
  const columns = favorite && (await favoriteColumns(transaction, id, favorite));
  if (columns !== undefined && 'limit' in columns) return columns;
  const row = await transaction
    .updateTable('endpoints')
    .set({
      name,
      source,
      autosave: autosave === undefined ? undefined : Number(autosave),
      ...columns,
      // Ensures that the update always sets a column, which also locks the row.
      next_index: sql`next_index`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toEndpointRecord(row);
}

type FavoriteColumns = Pick<Tables['endpoints'], 'is_favorite' | 'expires_at'>;

/** The new values of an endpoint that becomes a favorite or no longer is one. Locks its user. */
async function favoriteColumns(
  transaction: EngineTransaction,
  id: number,
  { on, now, plans }: NonNullable<EndpointChanges['favorite']>,
): Promise<Partial<FavoriteColumns> | LimitReached> {
  const endpoint = transaction.selectFrom('endpoints').where('id', '=', id);
  const found = await endpoint.select('user_id').executeTakeFirst();
  // Locked, so that the count and the change are atomic even if another call changes the plan or a favorite.
  const owner = found && (await lockUser(transaction, found.user_id));
  const before = await endpoint.select(['is_favorite', 'expires_at']).executeTakeFirst();
  // An endpoint that is no favorite must not get a later expiry.
  if (owner === undefined || before === undefined || (!on && before.is_favorite === 0)) return {};
  const { subscriptionTier: tier } = owner;
  const plan = plans[tier];
  if (!on) return { is_favorite: 0, expires_at: now + plan.expiryMs };
  if ((await favoritesOf(transaction, owner.id, id)) >= plan.favorites) return { limit: 'favorites', tier };
  const isExpired = before.expires_at !== null && before.expires_at <= now;
  if (isExpired && (await liveEndpointsOf(transaction, owner.id, now)) >= plan.endpoints)
    return { limit: 'endpoints', tier };
  return { is_favorite: 1, expires_at: null };
}

/**
 * Creates an endpoint unless the user has the plan's maximum of unexpired ones; safe under parallel calls. `undefined`
 * when the user does not exist.
 */
async function createEndpoint(
  transaction: EngineTransaction,
  { uid, userId, name, source, createdAt, autosave }: NewEndpoint,
  plans: PlanLimits,
): Promise<EndpointRecord | LimitReached | undefined> {
  const owner = await lockUser(transaction, userId);
  if (owner === undefined) return undefined;
  const { subscriptionTier: tier } = owner;
  const plan = plans[tier];
  if ((await liveEndpointsOf(transaction, userId, createdAt)) >= plan.endpoints) return { limit: 'endpoints', tier };
  const row = await transaction
    .insertInto('endpoints')
    .values({
      uid,
      user_id: userId,
      name,
      source,
      created_at: createdAt,
      expires_at: createdAt + plan.expiryMs,
      autosave: Number(autosave),
      is_favorite: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toEndpointRecord(row);
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
export async function removeEndpoint(transaction: DatabaseTransaction, id: number): Promise<boolean> {
  const row = await transaction
    .deleteFrom('endpoints')
    .where('id', '=', id)
    .returning(['first_index', 'next_index'])
    .executeTakeFirst();
  if (row === undefined) return false;
  await purgeLater(transaction, id, row);
  return true;
}

/** Makes skipped notices of expiry due again. Call it after a change of the settings, the plan or the address. */
export async function retrySkippedNotices(transaction: DatabaseTransaction, userId: number): Promise<void> {
  const skipped = await transaction
    .selectFrom('endpoints')
    .select('id')
    .where('user_id', '=', userId)
    .where('noticed_expiry', '<', 0)
    .orderBy('id')
    .execute();
  // Locks endpoints in the order of ids, like every transaction.
  for (const { id } of skipped)
    await transaction.updateTable('endpoints').set({ noticed_expiry: null }).where('id', '=', id).execute();
}

export const endpointQueries = {
  listEndpoints: read(listEndpoints),
  findEndpoint: read(findEndpoint),
  findEndpointDetail: read(findEndpointDetail),
  createEndpoint: write(inTransaction(createEndpoint)),
  changeEndpoint: write(inTransaction(changeEndpoint)),
  setDetectedSource: write(setDetectedSource),
  deleteEndpoint: freeing(inTransaction(removeEndpoint)),
};
