import { sql } from 'kysely';
import { indexOfKey, requestKey, removeDeliveries } from '../../database/request-key.ts';
import type { DatabaseTransaction } from '../../database/schema.ts';
import { latestOf, lockEndpoint } from '../requests/queries.ts';

/**
 * Removes requests that the trim spared and whose deliveries have ended. Ignores requests that are saved, within the
 * limit, or still pending. The caller has locked the endpoint.
 */
export async function removeSpared(
  transaction: DatabaseTransaction,
  endpointId: number,
  indexes: readonly number[],
): Promise<void> {
  const bounds = await lockEndpoint(transaction, endpointId);
  if (bounds === undefined) return;
  const isUnplanned = (index: number): boolean => bounds.planned_to !== null && index >= bounds.planned_to;
  const spared = new Set(indexes.filter((index) => index < bounds.trimmed_to && !isUnplanned(index)));
  const changes = new Map<string, { stored: number; bytes: number }>();
  let removed = 0;
  for (const index of spared) {
    const row = await transaction
      .deleteFrom('captured_requests')
      .where('key', '=', requestKey(endpointId, Math.max(index, bounds.first_index)))
      .where(indexOfKey, '=', index)
      .where('saved_id', 'is', null)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('deliveries').select('id').where('request_key', '=', requestKey(endpointId, index)))),
      )
      .returning(['method', sql<number>`coalesce(length(body), 0)`.as('size')])
      .executeTakeFirst();
    if (row === undefined) continue;
    await removeDeliveries(transaction, requestKey(endpointId, index), requestKey(endpointId, index + 1));
    const change = changes.get(row.method) ?? { stored: 0, bytes: 0 };
    changes.set(row.method, { stored: change.stored + 1, bytes: change.bytes + row.size });
    removed += 1;
  }
  if (removed === 0) return;
  for (const [method, { stored, bytes }] of changes)
    await transaction
      .updateTable('endpoint_method_counts')
      .set({ stored: sql`stored - ${stored}`, bytes: sql`bytes - ${bytes}` })
      .where('endpoint_id', '=', endpointId)
      .where('method', '=', method)
      .execute();
  await transaction
    .updateTable('endpoints')
    .set({
      unsaved_count: sql`unsaved_count - ${removed}`,
      spared_count: sql`spared_count - ${removed}`,
      dropped_count: sql`dropped_count + ${removed}`,
      latest_at: await latestOf(transaction, endpointId, bounds),
    })
    .where('id', '=', endpointId)
    .execute();
}
