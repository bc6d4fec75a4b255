import { sql } from 'kysely';
import { write } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { requestKey } from '../../database/request-key.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { latestOf, lockEndpoint, oneRequest, toRequestRecord } from './queries.ts';
import type { SaveResult } from './queries.ts';

/** A request that is no longer stored. */
export interface LostRequest {
  readonly index: number;
  readonly method: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** See request-head.ts. */
  readonly head: Uint8Array;
  readonly body: Uint8Array | null;
}

/** Adds one stored request of a method to the counters. */
async function countMethod(
  transaction: DatabaseTransaction,
  endpointId: number,
  method: string,
  size: number,
): Promise<void> {
  await transaction
    .insertInto('endpoint_method_counts')
    .values({ endpoint_id: endpointId, method, stored: 1, bytes: size })
    .onConflict((conflict) =>
      conflict.columns(['endpoint_id', 'method']).doUpdateSet({
        stored: sql`endpoint_method_counts.stored + 1`,
        bytes: sql`endpoint_method_counts.bytes + ${size}`,
      }),
    )
    .execute();
}

/**
 * Stores a dropped request again, as a saved one with its old index. A request that is still stored is returned as it
 * is, with `changed: false`. `undefined` when the endpoint never had this index or was cleared since.
 */
async function restoreRequest(
  db: EngineDatabase,
  endpointId: number,
  lost: LostRequest,
  maxSaved: number,
): Promise<SaveResult> {
  return db.transaction().execute(async (transaction) => {
    const bounds = await lockEndpoint(db, transaction, endpointId, 'counters');
    if (bounds === undefined || lost.index < bounds.first_index || lost.index >= bounds.next_index) return undefined;
    const stored = await oneRequest(transaction, endpointId, bounds.first_index, lost).executeTakeFirst();
    if (stored !== undefined) return { record: toRequestRecord(endpointId, stored), changed: false };
    if (bounds.saved_count >= maxSaved) return 'limit';
    const [savedId = null] = await db.engine.takeSavedIds(transaction, 1);
    const { index, method, receivedAt, head, body } = lost;
    const size = body?.length ?? 0;
    await transaction
      .insertInto('captured_requests')
      .values({
        key: requestKey(endpointId, index),
        saved_id: savedId,
        method,
        received_at: receivedAt,
        head,
        body: size === 0 ? null : body,
      })
      .execute();
    await countMethod(transaction, endpointId, method, size);
    await transaction
      .updateTable('endpoints')
      .set({
        saved_count: sql`saved_count + 1`,
        dropped_count: sql`case when dropped_count > 0 then dropped_count - 1 else 0 end`,
        latest_at: await latestOf(transaction, endpointId, bounds),
      })
      .where('id', '=', endpointId)
      .execute();
    return {
      record: { endpointId, index, savedId, method, receivedAt, head, body: size === 0 ? null : body, size },
      changed: true,
    };
  });
}

export const restoreQueries = { restoreRequest: write(restoreRequest) };
