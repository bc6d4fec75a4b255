import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { DatabaseTransaction, EndpointsTable } from '../../database/schema.ts';
import type { EndpointChanges, EndpointRecord, EndpointStore } from '../../database/store.ts';
import type { EngineDatabase, Unbound } from '../../database/unbound.ts';
import { lockUser } from '../../database/user-record.ts';

export function toEndpointRecord(row: Selectable<EndpointsTable>): EndpointRecord {
  return {
    id: row.id,
    uid: row.uid,
    userId: row.user_id,
    name: row.name,
    source: row.source,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    autosave: row.autosave === 1,
    isFavorite: row.is_favorite === 1,
    savedCount: row.saved_count,
    unsavedCount: row.unsaved_count,
    capturedCount: row.next_index - row.first_index,
    droppedCount: row.dropped_count,
    latestAt: row.latest_at,
  };
}

/** The format of a uid. PostgreSQL rejects some other texts, such as one with a NUL. */
const UID = /^[A-Za-z0-9_-]+$/;

async function findEndpoint(db: EngineDatabase, uid: string): Promise<EndpointRecord | undefined> {
  if (!UID.test(uid)) return undefined;
  const row = await db.selectFrom('endpoints').selectAll().where('uid', '=', uid).executeTakeFirst();
  return row && toEndpointRecord(row);
}

export const endpointReads = {
  async listEndpoints(db, userId) {
    const rows = await db
      .selectFrom('endpoints')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('is_favorite', 'desc')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map(toEndpointRecord);
  },
  findEndpoint,
  async findEndpointDetail(db, uid) {
    const endpoint = await findEndpoint(db, uid);
    if (endpoint === undefined) return undefined;
    const methodCounts = await db
      .selectFrom('endpoint_method_counts')
      .select(['method', 'stored', 'bytes'])
      .where('endpoint_id', '=', endpoint.id)
      .where('stored', '>', 0)
      .execute();
    return { ...endpoint, methodCounts };
  },
} satisfies Unbound<Pick<EndpointStore, 'listEndpoints' | 'findEndpoint' | 'findEndpointDetail'>>;

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

export const endpointWrites = {
  async createEndpoint(db, endpoint, limit) {
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
          latest_at: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toEndpointRecord(row);
    });
  },
  changeEndpoint,
  async setDetectedSource(db, id, source) {
    const result = await db
      .updateTable('endpoints')
      .set({ source })
      .where('id', '=', id)
      .where('source', 'is', null)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  },
  async deleteEndpoint(db, id) {
    return db.transaction().execute((transaction) => removeEndpoint(transaction, id));
  },
} satisfies Unbound<Pick<EndpointStore, 'createEndpoint' | 'changeEndpoint' | 'setDetectedSource' | 'deleteEndpoint'>>;

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
